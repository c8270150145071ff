/*
 * supervisor_inner.h: what the files supervisor*.c share, and nobody else.
 */
#ifndef LATERD_SUPERVISOR_INNER_H
#define LATERD_SUPERVISOR_INNER_H

#include "queues/announce.h"
#include "supervisor/checker.h"
#include "fault.h"
#include "health.h"
#include "identity.h"
#include "server_log.h"
#include "keeper/keeper.h"
#include "queues/losses.h"
#include "queues/migrator.h"
#include "queues/patterns.h"
#include "queues/recorder.h"
#include "queues/reshard.h"
#include "queues/services.h"
#include "queues/wake_listener.h"
#include "supervisor/restart.h"
#include "supervisor/workers.h"

#include <event2/event.h>

#define SUPERVISOR_SIGNALS 5 /* rows of signal_table */

struct supervisor {
    struct event_base *base;
    struct generation *generation;
    const char *path;
    bool verbose;
    char host[256], identity[IDENTITY_SIZE];
    char slots_dir[512];

    struct link *link;
    struct follow *follow; /* NULL: no Sentinels */
    struct keeper *keeper;
    struct queues *queues;
    struct announce *announce;
    struct patterns *patterns;
    struct fault crowded; /* a pool has no room for a queue of its pattern */
    struct fault cut_off; /* workers do not reach Redis, although we do */
    struct fault silent;  /* workers do not answer us, */
    bool all_silent;      /* none of them */
    double linked_at;     /* since when we do; 0: we do not */
    struct health *health;
    struct workers *workers;
    struct quota *quota; /* NULL: no end */
    struct overlay *overlay;
    struct event *signals[SUPERVISOR_SIGNALS], *pausing;
    struct timer *beat, *tick;
    double beaten;  /* when the beat came last; 0: not yet */
    int pausing_fd; /* where TSTP and CONT are read */

    pid_t server; /* the embedded one; 0 = none */
    struct restart server_restart;
    struct timer *server_timer;
    struct fault server_fault;
    struct server_log *server_log;

    struct checker *checker;
    struct config *next;       /* being checked */
    struct generation *trying; /* it is checked, and its workers are on trial */
    char *refused;             /* why the last reload was refused; NULL: it was not */
    bool again;                /* HUP came during a reload: the file may have changed */
    const char *awaited;       /* by the reload; NULL: nothing, or that has been told */
    double awaited_since;

    bool met; /* Redis has answered once, with a protocol we know */
    enum { UNJUDGED, FIT, UNFIT } redis;
    double unfit_since;
    char unfit[HEALTH_TEXT]; /* why */
    bool staffed;            /* all workers have loaded their plugins, once */
    bool paused, quiet;      /* by a signal; by `later pause --host` */
    bool ready, stopping, recorded, ending;
    double end_by;
    int status;
};

/* --- supervisor_reload.c */

/* Sets up the log by the present configuration. */
void supervisor_use_log(const struct supervisor *supervisor);

/* Tells what a reload waits for, if that takes long. Called every second. */
void supervisor_reload_look(struct supervisor *supervisor);

/* Callbacks: the checker has finished; the new workers are ready or have failed; HUP came. */
void supervisor_on_checked(void *arg, const char *why);
bool supervisor_on_tried(void *arg, const char *why);
void supervisor_on_reload(evutil_socket_t fd, short what, void *arg);

/* Callback: there is a queue of this name, which a pattern may match (patterns_found_fn). */
bool supervisor_on_found(void *arg, const char *name, bool used);

/* --- supervisor_stop.c: events */

/* Pauses the workers if that was ordered, Redis is not fit, or it is not known yet what is laid
 * over the queues; else lets them go on. */
void supervisor_pause(struct supervisor *supervisor);

/* Callback: this host is to be quiet; NULL: not any more. */
void supervisor_on_quieted(void *arg, const struct later_pause *pause);

void supervisor_on_child(evutil_socket_t fd, short what, void *arg);   /* CHLD */
void supervisor_on_pausing(evutil_socket_t fd, short what, void *arg); /* TSTP and CONT */
void supervisor_on_stop(evutil_socket_t fd, short what, void *arg);    /* TERM and INT */
void supervisor_on_quit(evutil_socket_t fd, short what, void *arg);    /* QUIT */
void supervisor_on_tick(void *arg);                                    /* somebody is leaving */

#endif
