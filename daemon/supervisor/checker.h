/*
 * checker.h: is a configuration good, plugins included? A child tries it, since code of a plugin
 * runs as soon as it is loaded, and the supervisor must not run any.
 */
#ifndef LATERD_CHECKER_H
#define LATERD_CHECKER_H

#include "config/config.h"

#include <stdbool.h>
#include <sys/types.h>

struct event_base;
struct checker;

/* Forks the child. `done` is told what is wrong with the configuration, or NULL, and the checker
 * freed, by checker_ended() — a child that hangs for 30 s is killed, and its configuration is bad.
 * NULL with *err. */
struct checker *checker_start(struct event_base *base, const struct config *config,
                              void (*done)(void *arg, const char *why), void *arg,
                              struct later_error *err);
pid_t checker_pid(const struct checker *checker);
void checker_ended(struct checker *checker, int status);
/* Kills the child and frees; done is not called. NULL is fine. */
void checker_free(struct checker *checker);

/* `laterd -t`: all plugins are loaded and configured in a child, waited for. Returns 0; or -1 with
 * *err, whose text is "" where the child has said it already. */
int checker_try(const struct config *config, struct later_error *err);

#endif
