/*
 * sleepers.h: which workers may be without connections to Redis.
 *
 * Each connection costs Redis some memory and, every second, a look; 1,000 hosts with 10 workers
 * would have 22,000. So where many hosts serve the same queues, all but one of a pool's workers
 * that wait may close theirs when they have waited long in vain (they fall asleep). As soon as that
 * one has got jobs another is roused, then as many as are awake, until one waits again. A job that
 * comes meanwhile does not wait for them: other hosts wait for it, too.
 *
 * All other hosts may be busy or quiet. So one that waits is asked each second whether its loop
 * turns; if it stands still it does not count, and another is roused.
 *
 * A host among few lets no worker sleep, and rouses all if the others have gone: one that waits may
 * be frozen, and there would be nobody else. Nor does one whose supervisor waits for the wakes
 * (wake_listener.h), where idle workers wait for nothing.
 */
#ifndef LATERD_SLEEPERS_H
#define LATERD_SLEEPERS_H

#include "supervisor/workers.h"

/* Workers sleep where more hosts than so many wait for a post (looker.h), */
#define SLEEPERS_HOSTS 30
#define SLEEPERS_FEW   15 /* and no longer where so many do, or fewer */

/* Looks at the workers of this generation, and lets them sleep or rouses them. Called every second,
 * and whenever a worker has stirred. hosts: how many wait for a post; linked: Redis can be reached.
 */
void sleepers_look(const struct workers *workers, const struct generation *generation,
                   uint32_t hosts, bool linked);

#endif
