/*
 * laid.h: what operators have laid over the configuration of a queue (queue/override.h).
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

/* Reads an answer to later_override_ask(): what lasts at `now`. NULL: nothing. */
void laid_take(struct laid *laid, const struct later_reply *reply, double now);

/* Asks for them. Returns 0, or -1 with *err. */
int laid_read(struct cli *cli, const struct later_keys *keys, struct laid *laid,
              struct later_error *err);

/* The pause that is for this type; NULL: there is none. */
const struct later_override *laid_of_type(const struct laid *laid, const char *type);

/* For programs: member `paused_types`, a list with an object for each. */
void laid_json(struct jsonl *json, const struct laid *laid);

/* For people: a line for each. now: Redis's clock. */
void laid_tell(FILE *out, const char *queue, const struct laid *laid, double now);

#endif
