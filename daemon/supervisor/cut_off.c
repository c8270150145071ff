/* cut_off.c: says which workers do not reach Redis, and why. */
#include "supervisor/cut_off.h"

#include <string.h>

#define WHILE_SECONDS 3.0 /* what laterd sees itself is over for its workers by then */

struct cut_off {
    size_t all, cut;
    char why[SLOTS_WHY];
};

static void cut_off_count(struct process *process, void *arg)
{
    struct cut_off *look = arg;
    char why[SLOTS_WHY];

    look->all++;
    if (slots_is_cut_off(process->slots, why) < WHILE_SECONDS)
        return;
    look->cut++;
    memcpy(look->why, why, sizeof why);
}

void cut_off_look(struct fault *fault, const struct workers *workers, double linked)
{
    struct cut_off look = { 0 };

    if (linked >= WHILE_SECONDS)
        workers_each(workers, cut_off_count, &look);
    if (look.cut)
        fault_note(
            fault, LOG_WARN,
            "%zu of %zu workers do not reach Redis, although laterd does: %s; they try again",
            look.cut, look.all, look.why);
    else
        fault_over(fault);
}
