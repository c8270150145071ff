/*
 * skeleton.h: a folder to begin with, from templates.
 *
 * A template is a folder of files. In their text `@NAME@` stands for the name that was chosen,
 * `@DIR@` for the new folder, `@DATA@` for where laterd's shared files are, `@PLUGINS@` for its
 * plugins, `@LATERD@` for the daemon, `@INCLUDE@` for the headers, all absolute; `@PATH:php@` for
 * where a program is. In the names of files it is NAME. A file that begins with #! becomes
 * executable.
 */
#ifndef LATER_CLI_SKELETON_H
#define LATER_CLI_SKELETON_H

#include "later/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct skeleton {
    const char *name; /* borrowed */
    char dir[PATH_MAX];
    char data[PATH_MAX], plugins[PATH_MAX], laterd[PATH_MAX], include[PATH_MAX];
    char missing[64]; /* a program that a template wants and that is nowhere; "": none */
};

/* Where everything is: what is installed; for a `later` in its source tree, what is there. */
void skeleton_look(struct skeleton *skeleton, const char *name);

/* Is there such a template, as "handler/python"? The names of all in a folder of templates, for a
 * person: "c, go, node". */
bool skeleton_has(const struct skeleton *skeleton, const char *template);
void skeleton_list(const struct skeleton *skeleton, const char *folder, char *text, size_t n);

/* Makes the folder ./NAME, which must not be there yet. Returns 0, or -1 with *err. */
int skeleton_begin(struct skeleton *skeleton, struct later_error *err);

/* Writes the files of a template into it. One that is there already stays. Returns 0, or -1 with
 * *err. */
int skeleton_add(struct skeleton *skeleton, const char *template, struct later_error *err);

#endif
