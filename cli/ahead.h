/*
 * ahead.h: answers that are asked for before they are needed, many in one round trip.
 *
 *     ahead_ask(client, &ahead[i], &cmd);        for each thing and each of its commands
 *     ahead_await(client);
 *     cli->ahead = &ahead[i];                 cli_call() takes the answers from there
 *
 * What was not asked for, or was not answered, cli_call() asks as ever. So this only saves time;
 * the answers are older than those of cli_call().
 */
#ifndef LATER_CLI_AHEAD_H
#define LATER_CLI_AHEAD_H

#include "client/call.h"

#define AHEAD_MAX 20 /* commands */

/* Zero it first; it must not move while answers are awaited. */
struct ahead {
    struct ahead_answer {
        char *bytes; /* of the command; owned; NULL: the answer was taken */
        size_t len;
        struct later_reply *reply; /* owned; NULL: none */
    } answers[AHEAD_MAX];
    size_t count;
};

/* Sends a command, which it empties, with the others. If that is not possible nothing happens;
 * no connection is made for it. */
void ahead_ask(struct later_client *client, struct ahead *ahead, struct later_command *cmd);

/* Waits for all answers. */
void ahead_await(struct later_client *client);

/* The answer to the first command that is the same, for the caller to free; NULL: there is none. */
struct later_reply *ahead_take(struct ahead *ahead, const struct later_command *cmd);

/* Frees what is left in it, and empties it. */
void ahead_clear(struct ahead *ahead);

#endif
