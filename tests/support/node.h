/*
 * node.h: runs redis-server processes on ports of 127.0.0.1. Several of them make a Cluster or a
 * Sentinel set: see cluster.h and sentinels.h.
 */
#ifndef TESTS_SUPPORT_NODE_H
#define TESTS_SUPPORT_NODE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#define NODE_FOLDER 64

/* Makes a folder for all nodes, NAME-XXXXXX in $TMPDIR or /tmp. Returns 0, or -1 with the reason on
 * stdout. */
int node_folder(char folder[NODE_FOLDER], const char *name);

/* Makes folder/NAME unless it exists, and in it the file conf, with the port. The caller adds to it
 * and closes it. NULL if that failed. */
FILE *node_config(const char *folder, const char *name, unsigned port);

/* Starts $REDIS_SERVER or redis-server in folder/NAME with its conf and an option ("--sentinel") or
 * NULL. It dies with this process. Returns its process id, or -1. */
pid_t node_start(const char *folder, const char *name, const char *option);

/* Kills it and waits for its end. *pid becomes 0. If it is not above 0, nothing is done. */
void node_end(pid_t *pid);

/* Returns a new connection, which the caller frees. Each command may take 2 s. NULL if there is
 * none. */
redisContext *node_connect(unsigned port);

/* Sends a command, as redisCommand() does, on a connection of its own. The caller owns the answer.
 * NULL if there was none within 2 s. */
redisReply *node_ask(unsigned port, const char *format, ...);
redisReply *node_ask_list(unsigned port, const char *format, va_list args);

/* Returns whether the answer is no error. If it is one, prints it with the command on stdout. */
bool node_good(unsigned port, const char *command, const redisReply *reply);

/* Sends a command. Returns whether the answer is no error. If it is one, prints it on stdout. */
bool node_do(unsigned port, const char *command);

/* Does the answer, a string or a list of pairs "name value", contain this text? value: NULL = the
 * name is enough. */
bool node_says(unsigned port, const char *command, const char *name, const char *value);

/* Returns how many clients have a name that begins with this, or -1 if nobody answers. */
int node_clients(unsigned port, const char *name);

/* Waits until `done` returns true, for so many seconds of an idle machine; on a busy one, where it
 * takes longer, only a hang ends the wait. Returns whether it did. */
bool node_await(bool (*done)(void *), void *what, double seconds);

#endif
