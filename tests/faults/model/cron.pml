/*
 * cron.pml: one schedule and the hosts that fire it (scripts/cron_fire.lua, daemon/queues/ticker.c).
 *
 * Ticks 2, 4 and 6 come as the clock of Redis goes on. Two hosts look, work out what to push and what
 * follows, and call; one of them may die in between. Jobs end at once and are forgotten. Somebody
 * edits the definition once; one who knows no calendars makes the next second the tick, unless one
 * has come, and asks which it is. Twice a host cannot read it, so the tick is held and comes again. Each step between braces is one script, or the world's.
 *
 * In the end each tick was pushed once, by the definition of that moment, and nothing else.
 *
 * BYID: instead, who pushes an id that is known is told so, and nothing else is compared.
 * NODIGEST: the tick is compared, the definition is not.
 * TWOSTEPS: the next tick is written, and the job is pushed by another call.
 * NOTAG: that it is only a question is not written.
 * OVERWRITES: it is asked even if a tick has come.
 * FORGETS: that a tick is held is not written.
 * STAYS: an edit leaves a held tick out.
 */
#define LAST 6

byte now = 0, next = 2;    /* the score */
byte held = 0;             /* the tick, if the score is when it comes again */
byte unread = 2;           /* times */
bit definition = 0;
byte asked = 0;            /* the tick, if it is a question */
byte pushed[LAST + 3];
bool known[LAST + 3];      /* there is a job of this id */
byte deaths = 1;

inline put(t)
{
    known[t] = true;
    pushed[t]++
}

#define DUE (held -> held : next)

#ifdef NODIGEST
#define SAME(t, d) (DUE == t && t <= now)
#else
#define SAME(t, d) (DUE == t && t <= now && definition == d)
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
    :: atomic { known[2] -> known[2] = false }
    :: atomic { known[4] -> known[4] = false }
    :: atomic { known[6] -> known[6] = false }
    od
}

/* Never after the last moment of this world. */
inline hold(t)
{
#ifndef FORGETS
    held = t;
#endif
    next = (now < LAST -> now + 1 : now)
}

inline ask()
{
    next = now + 1;
#ifndef NOTAG
    asked = next
#endif
}

proctype edit()
{
    atomic {
        if
        :: definition = 1;
#ifdef STAYS
            held = 0;
#else
            next = DUE; held = 0;
#endif
            if
#ifdef OVERWRITES
            :: next <= LAST -> ask()
#else
            :: next > now && next <= LAST -> ask()
#endif
            :: skip
            fi
        :: skip
        fi
    }
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
    byte t = 0, tick;
    bit d;
#ifdef BYID
    do
    :: t < LAST ->
        t = t + 2;
        now >= t;
        may_die();
        atomic { if :: !known[t] -> put(t) :: else fi }
    :: t == LAST -> break
    od;
#else
    do
    :: atomic {
            DUE <= LAST && next <= now -> t = DUE; d = definition;
            tick = t + (asked == t && t % 2)
        };
        may_die();
#ifdef TWOSTEPS
        if
        :: atomic { SAME(t, d) -> next = tick + 2 }; may_die(); atomic { put(tick) }
        :: else
        fi
#else
        atomic {
            if
            :: SAME(t, d) && unread > 0 -> unread--; hold(t)
            :: SAME(t, d) && tick <= now -> put(tick); next = tick + 2; asked = 0; held = 0; assert(d == definition)
            :: SAME(t, d) && tick > now -> next = tick; asked = 0; held = 0
            :: else
            fi
        }
#endif
    :: DUE > LAST -> break
    od;
#endif
dead:
    skip
}

proctype rest()
{
    timeout -> assert(pushed[2] == 1 && pushed[4] == 1 && pushed[6] == 1);
    assert(pushed[1] + pushed[3] + pushed[5] + pushed[7] + pushed[8] == 0)
}

init
{
    atomic { run clock(); run jobs(); run host(); run host(); run edit(); run rest() }
}
