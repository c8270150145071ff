/* push.h: what the files of `later push` share. */
#ifndef LATER_CLI_PUSH_H
#define LATER_CLI_PUSH_H

#include "cli.h"
#include "later/client.h"

/* `later push --file PATH`: one document per line. A command's function. */
int push_file(struct cli *cli, const char *path, struct later_error *err);

/* In push_flow_file.c: `later push --flow F --file PATH`. A command's function. */
int push_flow_file(struct cli *cli, const char *flow, const char *path, struct later_error *err);

/* In push_then.c: `later push TYPE … --then TYPE`. Pushes `first`, and each of --then after the one
 * before; they are a flow of their own unless it names one. A command's function. */
int push_chain(struct cli *cli, const struct later_new_job *first, struct later_error *err);

/* Prints what became of one job. push_print_json() prints JSON; line: its line in the file, 0 =
 * none. */
void push_print_json(const char *queue, const char *id, enum later_push_result how,
                     const char *state, uint64_t line);

#endif
