/* state.c: what every part of a worker may do. */
#include "worker/state.h"

#include "base/random.h"

#include <unistd.h>

void worker_pump_soon(struct worker *worker)
{
    event_active(worker->pump, EV_TIMEOUT, 0);
}

void worker_report(struct worker *worker, enum worker_report what)
{
    char byte = (char)what;

    (void)!write(worker->start->status_fd, &byte, 1); /* a full pipe wakes it anyway */
}

void worker_busy(struct worker *worker)
{
    if (!atomic_exchange(&worker->slots->page->busy, 1))
        worker_report(worker, WORKER_BUSY);
}

void worker_stir(struct worker *worker)
{
    if (slots_stir(worker->slots))
        worker_report(worker, WORKER_STIRS);
}

uint64_t worker_random(void)
{
    static uint64_t state; /* xorshift64 (Marsaglia 2003) is good enough for jitter */

    while (!state)
        later_random(&state, sizeof state);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}
