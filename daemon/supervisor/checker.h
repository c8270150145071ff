/*
 * checker.h: is a configuration good, with its plugins? A child process tries it. Loading a plugin
 * runs its code, and the supervisor must not run any.
 */
#ifndef LATERD_CHECKER_H
#define LATERD_CHECKER_H

#include "config/config.h"

#include <stdbool.h>
#include <sys/types.h>

struct event_base;
struct checker;

/* Forks the child. checker_ended() calls `done` with what is wrong with the configuration, or NULL,
 * and frees the checker. If the child hangs for 30 s it is killed, and the configuration is bad,
 * whether it dies or not. NULL with *err. */
struct checker *checker_start(struct event_base *base, const struct config *config,
                              void (*done)(void *arg, const char *why), void *arg,
                              struct later_error *err);
pid_t checker_pid(const struct checker *checker);
void checker_ended(struct checker *checker, int status);
/* Kills the child and frees; done is not called. NULL is fine. */
void checker_free(struct checker *checker);

/* `laterd -t`: loads and configures all plugins in a child, and waits for it. Returns 0, or -1 with
 * *err. Its text is "" if the child has reported the fault already. */
int checker_try(const struct config *config, struct later_error *err);

#endif
