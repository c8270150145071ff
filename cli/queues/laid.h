/*
 * laid.h: what operators have laid over the configuration of a queue, or of limits
 * (queue/override.h).
 */
#ifndef LATER_CLI_LAID_H
#define LATER_CLI_LAID_H

#include "cli.h"
#include "output/jsonl.h"
#include "queue/override.h"

struct laid {
    struct later_override list[LATER_OVERRIDES_MAX];
    size_t count;
};

/* Reads an answer to later_override_ask(): the pauses of types that last at `now`. NULL: nothing.
 */
void laid_take(struct laid *laid, const struct later_reply *reply, double now);

/* Asks for them. Returns 0, or -1 with *err. */
int laid_read(struct cli *cli, const struct later_keys *keys, struct laid *laid,
              struct later_error *err);

/* The same for the numbers that are laid over limits and permits. */
void laid_take_numbers(struct laid *laid, const struct later_reply *reply, double now);
int laid_read_numbers(struct cli *cli, struct laid *laid, struct later_error *err);

/* Those that hold for this limit or these permits; NULL: the configured ones do. */
const struct later_override *laid_of_line(const struct laid *laid, enum later_line_for what,
                                          const char *name, struct later_numbers *numbers);

/* The pause that is for this type; NULL: there is none. */
const struct later_override *laid_of_type(const struct laid *laid, const char *type);

/* For people: a line for each of the numbers that are set. now: Redis's clock. */
void laid_tell_numbers(FILE *out, const struct laid *laid, double now);

/* For programs: member `paused_types`, a list with an object for each. */
void laid_json(struct jsonl *json, const struct laid *laid);

/* For people: a line for each. now: Redis's clock. */
void laid_tell(FILE *out, const char *queue, const struct laid *laid, double now);

#endif
