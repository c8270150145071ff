/*
 * pace.h: work over many jobs takes at most a tenth of Redis's time, and ends at ^C.
 *
 * The cost of the calls since the last pause is taken from Redis's own count of the time that it
 * has worked (INFO). That includes work for others, so the pauses grow when Redis is busy. It does
 * not include other programs' use of the processor, which may delay each answer a lot. If Redis
 * does not tell, as on a Cluster, the cost is the time until the answers less that of a PING each.
 *
 * INT and TERM are caught while a pace lasts. The caller asks it whether to go on, and can report
 * how far it came.
 */
#ifndef LATER_CLI_PACE_H
#define LATER_CLI_PACE_H

#include "cli.h"
#include "choose/share.h"

#include <signal.h>
#include <stdint.h>

struct pace {
    struct cli *cli;
    sigset_t before;
    bool stopped; /* INT or TERM came */
    struct share share;
    double from;     /* start of the present call */
    double worked;   /* Redis's count when the last pause ended; < 0 = Redis does not tell */
    double rested;   /* start of the last pause; < 0 = there was none */
    double reckoned; /* when the cost of our calls was last added up */
    double rate;     /* jobs per second to act on; 0 = no limit */
    bool brisk;      /* pace_rest() does not sleep */
    double first;    /* when the first of them was acted on */
    uint64_t count;
};

/* Returns 0, and then pace_end() is due; or -1 with *err. */
int pace_begin(struct pace *pace, struct cli *cli, double rate, struct later_error *err);
void pace_end(struct pace *pace);

/* pace_pause() stops catching ^C while a person is asked a question; pace_go_on() catches it
 * again. */
void pace_pause(struct pace *pace);
void pace_go_on(struct pace *pace);

/* Waits until something comes from this descriptor, or its end. Returns false if it is time to
 * stop. */
bool pace_wait(struct pace *pace, int fd);

/* Put these around each question to Redis. pace_rest() may sleep. */
void pace_work(struct pace *pace);
void pace_rest(struct pace *pace);

/* Sleeps until this many more jobs may be acted on. Returns false if it is time to stop. */
bool pace_count(struct pace *pace, uint64_t jobs);

#endif
