/*
 * server.h: what a Redis says of itself: INFO, its slow log, and which keys of ours it has.
 * Encoders and decoders like inspect.h; INFO is asked for by later_inspect_state().
 */
#ifndef LATER_SERVER_H
#define LATER_SERVER_H

#include "redis/command.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- facts of INFO: a row each --- */

enum later_server_kind {
    LATER_SERVER_TEXT,
    LATER_SERVER_NUMBER,
    LATER_SERVER_BYTES,
    LATER_SERVER_SECONDS,
    LATER_SERVER_TIME /* UNIX time */
};

struct later_server_fact {
    const char *name;  /* for programs; NULL: the end */
    const char *field; /* of INFO, with its colon */
    enum later_server_kind kind;
    const char *words; /* for people */
};
extern const struct later_server_fact later_server_facts[];

/* Read one from the answer to INFO. Returns whether it is there: other versions say less. */
bool later_server_number(const struct later_reply *info, const struct later_server_fact *fact,
                         double *number);
bool later_server_text(const struct later_reply *info, const struct later_server_fact *fact,
                       char *text, size_t room);

/* --- replicas of a master --- */

#define LATER_SERVER_REPLICAS 16 /* more are not read */

struct later_server_replica {
    char address[80], state[24];
    double lag;    /* seconds since it last answered; < 0 = not known */
    double behind; /* bytes that it has not confirmed; < 0 = not known */
};

/* Reads number i. False: there are no more. */
bool later_server_replica(const struct later_reply *info, size_t i,
                          struct later_server_replica *replica);

/* --- the slow log, the newest first (SLOWLOG GET) --- */

/* What the command was called with may be somebody's secret: only its name and the first of our
 * keys are read. */
struct later_server_slow {
    double at, seconds;
    char command[100];
};

void later_server_ask_slow(struct later_command *cmd, int count);
bool later_server_slow(const struct later_reply *reply, size_t i, const char *prefix,
                       struct later_server_slow *slow);

/* --- our keys (SCAN), read by later_inspect_scanned() --- */

void later_server_ask_keys(struct later_command *cmd, const char *prefix, const char *cursor);

/* Writes what kind of key that is: "ready", "reserved", "lock", "hosts". "": none of ours. */
#define LATER_SERVER_KIND 24
void later_server_kind(char kind[LATER_SERVER_KIND], const char *key, const char *prefix);

#endif
