/*
 * skeleton.h: makes a folder from templates.
 *
 * A template is a folder of files. In their text, these are replaced by absolute paths: `@DIR@`
 * (the new folder), `@DATA@` (laterd's shared files), `@PLUGINS@`, `@LATERD@` (the daemon),
 * `@INCLUDE@` (the headers), `@CONF@` (the folder of laterd.conf), `@PATH:php@` (a program).
 * `@NAME@` is replaced by the chosen name, as is NAME in the names of files. A file that begins
 * with #! becomes executable.
 */
#ifndef LATER_CLI_SKELETON_H
#define LATER_CLI_SKELETON_H

#include "cli.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct skeleton {
    const char *name; /* borrowed */
    char dir[PATH_MAX];
    char data[PATH_MAX], plugins[PATH_MAX], laterd[PATH_MAX], include[PATH_MAX];
    char missing[64];       /* a program that a template needs and that was not found; "" = none */
    char hidden[PATH_MAX];  /* one in $PATH that the service cannot see; "" = none */
    char instead[PATH_MAX]; /* the one that was taken instead of that; "" = none is elsewhere */
};

/* Finds laterd's files: the installed ones, or for a `later` in the tree where it was built those
 * of the tree. */
void skeleton_look(struct skeleton *skeleton, const char *name);

/* skeleton_has(): is there a template of this name, as "handler/python"? skeleton_list(): the names
 * of all templates of handlers, for people: "c, go, node". */
bool skeleton_has(const struct skeleton *skeleton, const char *template);
void skeleton_list(const struct skeleton *skeleton, char *text, size_t n);

/* Finds a program in $PATH, and writes its absolute path into `path` (PATH_MAX bytes). */
bool skeleton_find_program(const char *name, char *path);

/* Says so if it is where the service, with ProtectHome=yes in its unit, sees nothing. */
void skeleton_tell_hidden(const struct cli *cli, const char *path);

/* Makes the folder ./NAME, which may not exist yet. Returns 0, or -1 with *err. */
int skeleton_begin(struct skeleton *skeleton, struct later_error *err);

/* Writes a template's files into the folder. A file that exists is kept. Returns 0, or -1 with
 * *err. */
int skeleton_add(struct skeleton *skeleton, const char *template, struct later_error *err);

#endif
