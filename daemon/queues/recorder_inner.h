/*
 * recorder_inner.h: what recorder.c, recorder_write.c and recorder_fold.c share, and nobody else.
 */
#ifndef LATERD_RECORDER_INNER_H
#define LATERD_RECORDER_INNER_H

#include "queues/recorder.h"

#include "history/history.h"
#include "queue/shards.h"
#include "queues/queues.h"

#define RECORDER_TOTALS LATER_SCALES /* the part for the totals */
#define RECORDER_PARTS  (LATER_SCALES + 1)

struct recorder_queue;

/* What is counted in the present period of a scale, or in all. */
struct recorder_part {
    struct recorder_queue *queue;
    int scale; /* or RECORDER_TOTALS */
    int64_t period;
    struct later_tallies tallies;
    bool changed; /* since the last send, or that had no answer */
    bool asked;
    double due; /* later_clock(): not written before */
    /* For the totals: what Redis has confirmed, and what it has once it answers; packed. NULL:
     * nothing. */
    char *told, *telling;
    size_t told_len, telling_len;
};

/* The part of a whole queue. It is never freed before the end: what it has counted may still have
 * to be written. */
struct recorder_queue {
    struct recorder *recorder;
    const struct later_keys *keys; /* no name: counted outside the queues */
    struct recorder_part parts[RECORDER_PARTS];
    struct recorder_queue *next;
};

/* A period that is over, until Redis has it. */
struct recorder_past {
    struct recorder *recorder;
    const struct later_keys *keys;
    int scale;
    int64_t period;
    char *packed;
    size_t len;
    bool asked;
    struct recorder_past *next;
};

/* What was seen of a page. */
struct recorder_page {
    const struct slots *slots; /* which: not read by this */
    uint32_t queue_count;
    struct recorder_queue *queues[SLOTS_QUEUES];
    struct counts_seen *rows[COUNTS_ROWS]; /* NULL: not looked at yet */
    struct recorder_page *next;
};

struct recorder {
    struct queues *queues;
    char field[320];              /* HOST:PID:RANDOM */
    size_t id_len;                /* of HOST:PID */
    struct recorder_queue *first; /* of all */
    size_t queue_count;
    struct later_keys besides;      /* what is counted outside the queues */
    struct recorder_queue *outside; /* its part; NULL: not yet */
    struct recorder_page *pages;
    struct recorder_past *past;
    size_t row_count, past_count;
    double now;                /* Redis's clock */
    double fold_at;            /* later_clock(): when to look for totals of the dead */
    struct later_reply *hosts; /* the daemons alive, while their totals are looked at */
    size_t folding;
};

/* --- recorder_write.c */

/* Sends what is due, or with `all` everything that has changed, and the past periods. */
void recorder_send(struct recorder *recorder, bool all);
/* A part's period is over: moves its tallies to the past. */
void recorder_put_by(struct recorder_part *part);
void recorder_free_past(struct recorder *recorder);

/* --- recorder_fold.c */

/* Merge all fields of a period; and those fields of the totals whose laterd is gone. */
void recorder_fold(struct recorder_queue *queue, int scale, int64_t period);
void recorder_fold_totals(struct recorder *recorder);

#endif
