/*
 * saved.h: searches that are saved under a name for everybody: `later:searches` (doc/protocol.md,
 * "Saved searches").
 *
 * What is saved are conditions, as the options of `later search` have them, and what the pages show
 * with them. In Redis they are lines, in JSON texts: `type:mail.*`, `not:kind:timeout`.
 */
#ifndef LATER_CLI_SAVED_H
#define LATER_CLI_SAVED_H

#include "cli.h"

#include <stdbool.h>

#define SAVED_MAX      100  /* searches */
#define SAVED_NAME_MAX 64   /* bytes of a name */
#define SAVED_TEXT_MAX 1024 /* bytes of all conditions of one */

/* Rows for a table of options. */
#define SAVED_OPTIONS                                                                              \
    { "save", 0, "NAME", "keep these conditions under a name, for all" },                          \
        { "saved", 0, NULL, "list what is kept so" },                                              \
        { "unsave", 0, "NAME", "drop one of these" },                                              \
    {                                                                                              \
        "columns", 0, "LIST", "with --save: what pages show, such as id,payload.to"                \
    }

/* Does what --save, --saved or --unsave asks for. Returns 1 if none was given, 0 if it is done, or
 * -1 with *err. */
int saved_act(struct cli *cli, struct later_error *err);

/* Returns all of them: name, text, name, text …; to be freed. NULL with *err. */
struct later_reply *saved_read(struct cli *cli, struct later_error *err);

/* Is this the name of something that a search has beside its conditions, such as its queue? */
bool saved_is_beside(const char *name);

/* Adds the conditions of the search of this name to those on the command line; its queue, or -A,
 * only if none is there. Returns their text, which stays in use and is to be freed behind the last
 * use of cli->args; NULL with *err (LATER_E_NONE: there is none of this name). */
char *saved_use(struct cli *cli, const char *name, struct later_error *err);

#endif
