/*
 * node.h: redis-server processes on ports of 127.0.0.1, of which several make a Cluster or a
 * Sentinel set: see cluster.h and sentinels.h.
 */
#ifndef TESTS_SUPPORT_NODE_H
#define TESTS_SUPPORT_NODE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define NODE_FOLDER 64

/* Makes a folder for all of them, NAME-XXXXXX in $TMPDIR or /tmp. Returns 0, or -1 with the reason
 * on stdout. */
int node_folder(char folder[NODE_FOLDER], const char *name);

/* Makes folder/NAME, if it is not there, with the file conf in it, which says the port so far; the
 * caller adds to it and closes it. NULL where that failed. */
FILE *node_config(const char *folder, const char *name, unsigned port);

/* Starts $REDIS_SERVER or redis-server in folder/NAME with its conf and an option ("--sentinel"),
 * or NULL. It dies with this process. Returns its pid, -1 where there is none. */
pid_t node_start(const char *folder, const char *name, const char *option);

/* KILL, and waits for its end. *pid becomes 0; where it is not above 0, nothing is done. */
void node_end(pid_t *pid);

/* Removes the folder with all that is in it; *folder becomes "". */
void node_remove(char *folder);

/* A new connection, to be freed by the caller; each of its commands may take 2 s. NULL where there
 * is none. */
redisContext *node_connect(unsigned port);

/* A command, as redisCommand() has it, by a connection of its own. The answer is the caller's; NULL
 * where there was none within 2 s. */
redisReply *node_ask(unsigned port, const char *format, ...);
redisReply *node_ask_list(unsigned port, const char *format, va_list args);

/* Is the answer no error? Says on stdout what else it is, with the command. */
bool node_good(unsigned port, const char *command, const redisReply *reply);

/* A command there: is the answer no error? Says on stdout what else it is. */
bool node_do(unsigned port, const char *command);

/* Is a text in the answer, a string or a list of strings as pairs "name value"? value: NULL = the
 * name is enough. */
bool node_says(unsigned port, const char *command, const char *name, const char *value);

/* How many of the clients there have a name that begins with this; -1 where nobody answers. */
int node_clients(unsigned port, const char *name);

/* Waits until `done` says so, up to `seconds`. Returns whether it did. */
bool node_await(bool (*done)(void *), void *what, double seconds);

#endif
