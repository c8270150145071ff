/*
 * health.h: the state of the laterd on this host, in a small mapped file in state_dir. Writing it
 * takes no connection and no system call, so `later status --local` answers even if Redis does not.
 */
#ifndef LATERD_HEALTH_H
#define LATERD_HEALTH_H

#include "later/error.h"

#include <stdbool.h>
#include <stdint.h>

#define HEALTH_TEXT 640
/* Seconds after which a loop that has not turned is stuck. It turns each second. */
#define HEALTH_STILL 10.0

struct health;

struct health_report {
    bool running;             /* a laterd holds the lock on state_dir */
    bool redis_up;            /* its connection */
    uint32_t workers;         /* alive */
    uint32_t busy;            /* of them, with a job running */
    int64_t pid;              /* the supervisor's */
    double heartbeat_age;     /* seconds since its loop turned last */
    char fault[HEALTH_TEXT];  /* what hinders all; "" = nothing */
    char reload[HEALTH_TEXT]; /* why the last reload was refused; "" = it was not */
};

/* For the writer: takes the lock on state_dir for as long as it is open. NULL with *err;
 * LATER_E_LATER if another laterd has the lock. */
struct health *health_open(const char *state_dir, struct later_error *err);
void health_close(struct health *health);
void health_beat(struct health *health, bool redis_up, uint32_t workers, uint32_t busy);
/* NULL: no fault. Cheap if nothing has changed. */
void health_fault(struct health *health, const char *why);
void health_reload(struct health *health, const char *why);

/* For readers. Returns 0, or -1 with *err if nothing can be read: LATER_E_NONE if no laterd has
 * ever run there, LATER_E_TOKEN without permission. */
int health_read(const char *state_dir, struct health_report *report, struct later_error *err);

#endif
