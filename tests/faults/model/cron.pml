/*
 * cron.pml: one schedule and the hosts that fire it (scripts/cron_fire.lua, daemon/queues/ticker.c).
 *
 * Ticks 1 to 3 come as the clock of Redis goes on. Two hosts look, work out what to push and what
 * follows, and call; one of them may die in between. Jobs end at once and are forgotten. Somebody
 * edits the definition once. Each step between braces is one script, or the world's.
 *
 * In the end each tick was pushed once, by the definition of that moment.
 *
 * BYID: instead, who pushes an id that is known is told so, and nothing else is compared.
 * NODIGEST: the tick is compared, the definition is not.
 * TWOSTEPS: the next tick is written, and the job is pushed by another call.
 */
#define LAST 3

byte now = 0, next = 1;    /* the tick */
bit definition = 0;
byte pushed[LAST + 2];
bool known[LAST + 2];      /* there is a job of this id */
byte deaths = 1;

inline put(t)
{
    known[t] = true;
    pushed[t]++
}

#ifdef NODIGEST
#define SAME(t, d) (next == t && t <= now)
#else
#define SAME(t, d) (next == t && t <= now && definition == d)
#endif

proctype clock()
{
    do
    :: atomic { now < LAST -> now++ }
    :: now == LAST -> break
    od
}

proctype jobs()
{
end:
    do
    :: atomic { known[1] -> known[1] = false }
    :: atomic { known[2] -> known[2] = false }
    :: atomic { known[3] -> known[3] = false }
    od
}

proctype edit()
{
    atomic { if :: definition = 1 :: skip fi }
}

inline may_die()
{
    if
    :: atomic { deaths > 0 -> deaths-- }; goto dead
    :: skip
    fi
}

proctype host()
{
    byte t = 0;
    bit d;
#ifdef BYID
    do
    :: t < LAST ->
        t++;
        now >= t;
        may_die();
        atomic { if :: !known[t] -> put(t) :: else fi }
    :: t == LAST -> break
    od;
#else
    do
    :: atomic { next <= LAST && next <= now -> t = next; d = definition };
        may_die();
#ifdef TWOSTEPS
        if
        :: atomic { SAME(t, d) -> next = t + 1 }; may_die(); atomic { put(t) }
        :: else
        fi
#else
        atomic {
            if
            :: SAME(t, d) -> put(t); next = t + 1; assert(d == definition)
            :: else
            fi
        }
#endif
    :: next > LAST -> break
    od;
#endif
dead:
    skip
}

proctype rest()
{
    timeout -> assert(pushed[1] == 1 && pushed[2] == 1 && pushed[3] == 1)
}

init
{
    atomic { run clock(); run jobs(); run host(); run host(); run edit(); run rest() }
}
