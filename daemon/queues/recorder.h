/*
 * recorder.h: writes the history of the supervisor's queues (lib's history/history.h).
 *
 * Each second it reads what its workers have counted (reservation/counts.h). For each queue in
 * which something has happened it writes one field of the current minute; less often, of the ten
 * minutes, the hour and the totals. A field holds everything that this laterd has counted there, so
 * a lost answer does not matter. A period that is over is written until Redis has it, for half an
 * hour.
 *
 * It also merges fields: those of old periods and, in the totals, those of laterds that are gone.
 *
 * Bounded: RECORDER_QUEUES queues, LATER_TALLY_TYPES types in each and RECORDER_ROWS in all; beyond
 * that, attempts are counted without their type, or not at all.
 */
#ifndef LATERD_RECORDER_H
#define LATERD_RECORDER_H

#include "config/config.h"
#include "reservation/slots.h"

#define RECORDER_QUEUES 4352
#define RECORDER_ROWS   4096 /* of queue, type and period */

struct queue;
struct queues;
struct recorder;

/* Of its row (services.h), what is also called by name. */
int recorder_new(struct queues *queues, struct later_error *err);
void recorder_free(struct queues *queues);

/* Reads a page of a worker of this pool. For a dead worker pool may be NULL if the page was read
 * before; otherwise the page says which queues it has. */
void recorder_read(struct recorder *recorder, const struct slots *slots,
                   const struct config_pool *pool);
/* The page is about to be closed: reads it for the last time. */
void recorder_leave(struct recorder *recorder, const struct slots *slots);

/* A worker process has died by itself. */
void recorder_crashed(struct recorder *recorder);

/* Call it each second after all pages were read. Writes what is due. now: Redis's clock; if it is
 * 0, not known, nothing is written. */
void recorder_write(struct recorder *recorder, double now);

/* Has it counted anything of which it does not know the period, since now was never known? */
bool recorder_lacks_time(const struct recorder *recorder);

/* At the end: writes everything; if now is 0, what lacks the time only into the totals. Then
 * recorder_open(): may any of it still get an answer? */
void recorder_end(struct recorder *recorder, double now);
bool recorder_open(const struct recorder *recorder);

/* Of how many queues has it counted something that Redis is not known to have? */
size_t recorder_unwritten(const struct recorder *recorder);

#endif
