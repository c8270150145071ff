/*
 * pace.h: what goes over many jobs takes at most a tenth of Redis's time, and ends at ^C.
 *
 * What the calls since the last pause cost Redis is what it has worked meanwhile, by its own count
 * (INFO): that has what it did for others, too, so that there is more of a pause where it is busy;
 * and not what others had of the processor, who may make each answer a long time coming. Where it
 * does not tell, as on a Cluster, it is the time until the answers, less that of a PING for each.
 *
 * INT and TERM are taken while a pace lasts: whoever goes by it asks whether to go on, and can say
 * how far it came.
 */
#ifndef LATER_CLI_PACE_H
#define LATER_CLI_PACE_H

#include "cli.h"
#include "jobs/share.h"

#include <signal.h>
#include <stdint.h>

struct pace {
    struct cli *cli;
    sigset_t before;
    bool stopped; /* somebody wants it to end */
    struct share share;
    double from;     /* when the present call began */
    double worked;   /* what Redis had worked when the last pause ended; < 0 = it does not tell */
    double rested;   /* when it began; < 0 = there was none */
    double reckoned; /* when what our calls cost was last added up */
    double rate;     /* jobs a second to act on; 0 = any number */
    double first;    /* when the first of them was */
    uint64_t count;
};

/* Returns 0, or -1 with *err. Behind a success pace_end() is due. */
int pace_begin(struct pace *pace, struct cli *cli, double rate, struct later_error *err);
void pace_end(struct pace *pace);

/* While a person is asked, ^C is not taken. */
void pace_pause(struct pace *pace);
void pace_go_on(struct pace *pace);

/* Around what asks Redis. The second one may sleep; false: stop. */
void pace_work(struct pace *pace);
bool pace_rest(struct pace *pace);

/* So many jobs are to be acted on next: sleeps until they may be. False: stop. */
bool pace_count(struct pace *pace, uint64_t jobs);

#endif
