/*
 * flow.pml: a flow whose jobs lie in another queue (doc/protocol.md, "Flows"). Does each of them run once,
 * never before what it waits for has ended, and does none hang, whoever dies or stands still?
 *
 * Two jobs: A, and B that waits for it. HOME has the flow: a state for each job. AWAY has the jobs. Each
 * step is one script, so it sees one of the two. `up` is the news of AWAY, `down` that of HOME: a mover
 * reads the first, has the other queue hear it, and removes it then. It may stand still between any two
 * steps, as long as it likes, so that it tells what is old; or die. Pushers announce a job at HOME and
 * then park it at AWAY; they may stand still or die, too, and one does all of it. Jobs are done, die, are
 * kicked and cancelled.
 *
 *     spin -a flow.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -E
 *
 * Switches: FAILED: B waits for a failure of A. KNOWN: A was there before the flow. ADDER: A's handler adds B.
 * UPS, DOWNS, PUSHERS, BURIES, KICKS, CANCELS, LOOKS: how many. LOSSES: so often AWAY loses a job, as in a
 * failover.
 *
 * Each of these leaves out one rule, and is found broken:
 *
 *     TELL_APART      the script that ends a job tells it in the same step
 *     REMOVE_FIRST    news is removed after it was heard
 *     PARK_FIRST      a job is announced before it is parked
 *     PARK_READY      a parked job waits until the flow has it run
 *     ANY_TIE         what the flow decides is for one tie, not for whatever has that id
 *     KEEP_STRAY      who is parked though the flow has it already, is dropped
 *     ANY_ORDER       dead and alive count only if they are newer than what was heard
 *     DEAD_IS_FINAL   dead is not final
 *     LOOK_NOT        the flow looks after its jobs (with LOSSES, or ADDER)
 *     LET_ALL_IN      into a closed flow, only one of its jobs that is open brings others (with ADDER)
 *
 * tests/faults/model/test_flow_model.sh runs them all.
 */
#ifndef UPS
#define UPS 2
#endif
#ifndef DOWNS
#define DOWNS 1
#endif
#ifndef PUSHERS
#define PUSHERS 2
#endif
#ifndef BURIES
#define BURIES 1
#endif
#ifndef KICKS
#define KICKS 1
#endif
#ifndef CANCELS
#define CANCELS 1
#endif
#ifndef LOOKS
#define LOOKS 1
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef DEATHS
#define DEATHS 1
#endif

#define A 0
#define B 1

mtype = { NONE, WAITS, LIVES, DEAD };                             /* a job */
mtype = { UNKNOWN, PROMISED, WAITING, OPEN, BURIED, DONE, GONE, SKIPPED }; /* as HOME knows it */
mtype = { PARKED, ALIVE, DIED, ENDED, LEFT, NOWHERE };            /* news for HOME */
mtype = { RUN, BURY, DROP, LOOK };                                /* news for AWAY */

/* HOME */
mtype state[2] = UNKNOWN;
byte tied[2];  /* the number of the job's tie; 0: not known */
byte heard[2]; /* the number of the news by which it was dead or alive last */
bool closed;
byte out; /* the number of the last news */

/* AWAY */
mtype job[2] = NONE;
byte tie[2];
byte last;

/* kind, job, tie, number, and what HOME thinks it is */
chan up = [12] of { mtype, byte, byte, byte };
chan down = [12] of { mtype, byte, byte, byte, mtype };

/* What has happened. */
byte ran[2];
bool failed[2];
byte deaths = DEATHS, buries = BURIES, kicks = KICKS, cancels = CANCELS, looks = LOOKS, losses = LOSSES;

#define FINAL(m) (state[m] == DONE || state[m] == GONE || state[m] == SKIPPED)

inline tell(kind, m, number)
{
    last++;
    assert(nfull(up));
    up!kind, m, number, last
}

inline order(kind, m, number)
{
    out++;
    assert(nfull(down));
    down!kind, m, number, out, state[m]
}

/* ---- HOME */

inline decide(m)
{
    if
    :: state[m] == WAITING && m == A -> state[m] = OPEN; order(RUN, m, tied[m])
#ifdef FAILED
    :: state[m] == WAITING && m == B && (state[A] == BURIED || state[A] == GONE) ->
        state[m] = OPEN; order(RUN, m, tied[m])
    :: state[m] == WAITING && m == B && state[A] == DONE ->
        state[m] = SKIPPED; order(DROP, m, tied[m])
#else
    :: state[m] == WAITING && m == B && state[A] == DONE -> state[m] = OPEN; order(RUN, m, tied[m])
    :: state[m] == WAITING && m == B && state[A] == GONE ->
        state[m] = BURIED; order(BURY, m, tied[m])
#endif
    :: else
    fi
}

#ifdef DEAD_IS_FINAL
#define MAY_MOVE(m) (!FINAL(m) && state[m] != BURIED)
#else
#define MAY_MOVE(m) (!FINAL(m))
#endif

inline move(m, to)
{
    if
    :: MAY_MOVE(m) -> state[m] = to
    :: else
    fi;
    if
    :: m == A -> decide(B)
    :: else
    fi
}

#ifdef ANY_ORDER
#define NEWER(m, number) true
#else
#define NEWER(m, number) (number > heard[m])
#endif

inline hear(kind, m, number, at)
{
    if /* now it is known to be there */
    :: state[m] == PROMISED && (kind == PARKED || kind == ALIVE || kind == DIED) ->
        state[m] = WAITING; tied[m] = number
    :: else
    fi;
    if
    :: kind == PARKED && tied[m] == number && state[m] == WAITING -> decide(m)
    :: kind == PARKED && tied[m] == number && state[m] == OPEN -> order(RUN, m, number)
    :: kind == PARKED && tied[m] == number && state[m] == BURIED ->
        if
        :: heard[m] == 0 -> state[m] = WAITING; decide(m)
        :: else
        fi
    :: kind == PARKED && (tied[m] != number || FINAL(m)) ->
#ifndef KEEP_STRAY
        order(DROP, m, number)
#else
        skip
#endif
    :: (kind == ALIVE || kind == DIED) && tied[m] == number && NEWER(m, at) ->
        heard[m] = at;
        if
        :: kind == ALIVE -> move(m, OPEN)
        :: else -> move(m, BURIED)
        fi
    :: kind == ENDED && tied[m] == number -> assert(ran[m] == 1); move(m, DONE)
    :: kind == LEFT && tied[m] == number -> assert(ran[m] == 0); move(m, GONE)
    :: kind == NOWHERE && tied[m] == number && state[m] != UNKNOWN -> move(m, GONE)
    :: else
    fi
}

/* ---- AWAY */

inline let_run(m)
{
#ifdef FAILED
    assert(m == A || failed[A]);
#else
    assert(m == A || ran[A] == 1);
#endif
    job[m] = LIVES
}

#ifdef ANY_TIE
#define IS_IT(m, number) (tie[m] != 0)
#else
#define IS_IT(m, number) (tie[m] != 0 && tie[m] == number)
#endif

inline obey(kind, m, number, thought)
{
    if
    :: kind == RUN && job[m] == WAITS && IS_IT(m, number) -> let_run(m)
    :: kind == BURY && job[m] == WAITS && IS_IT(m, number) -> job[m] = DEAD
    :: kind == DROP && job[m] == WAITS && IS_IT(m, number) -> job[m] = NONE; tie[m] = 0
    :: kind == LOOK && (IS_IT(m, number) || (number == 0 && tie[m] != 0)) ->
        if
        :: job[m] == WAITS && thought != WAITING -> tell(PARKED, m, tie[m])
        :: job[m] == DEAD && thought != BURIED -> tell(DIED, m, tie[m])
        :: job[m] == LIVES && thought != OPEN -> tell(ALIVE, m, tie[m])
        :: else
        fi
    :: kind != DROP && !IS_IT(m, number) && !(kind == LOOK && number == 0 && tie[m] != 0) ->
        tell(NOWHERE, m, number)
    :: else
    fi
}

inline park(m)
{
    if
    :: job[m] == NONE || tie[m] == 0 ->
        tie[m] = last + 1;
        if
        :: job[m] == NONE ->
#ifdef PARK_READY
            job[m] = LIVES;
            tell(ALIVE, m, tie[m])
#else
            job[m] = WAITS;
            tell(PARKED, m, tie[m])
#endif
        :: job[m] == DEAD -> tell(DIED, m, tie[m])
        :: job[m] == LIVES -> tell(ALIVE, m, tie[m])
        fi
    :: job[m] == WAITS -> tell(PARKED, m, tie[m])
    :: job[m] == DEAD && tie[m] != 0 -> tell(DIED, m, tie[m])
    :: job[m] == LIVES && tie[m] != 0 -> tell(ALIVE, m, tie[m])
    fi
}

/* The job ends; `kind` is told if it belongs to the flow. */
inline leave(m, kind)
{
    job[m] = NONE;
    if
    :: tie[m] != 0 ->
        number = tie[m];
        tie[m] = 0;
        if
        :: kind == ENDED -> ran[m]++; assert(ran[m] == 1)
        :: else -> failed[m] = true
        fi;
#ifdef TELL_APART
        if
        :: deaths > 0 -> deaths--
        :: tell(kind, m, number)
        fi
#else
        tell(kind, m, number)
#endif
    :: else
    fi
}

proctype world(byte m)
{
    byte number;

end:
    do
    :: atomic { job[m] == LIVES -> leave(m, ENDED) }
    :: atomic { job[m] == LIVES && buries > 0 -> buries--; job[m] = DEAD;
        if
        :: tie[m] != 0 -> failed[m] = true; tell(DIED, m, tie[m])
        :: else
        fi }
    :: atomic { job[m] == DEAD && kicks > 0 -> kicks--; job[m] = LIVES;
        if
        :: tie[m] != 0 -> tell(ALIVE, m, tie[m])
        :: else
        fi }
    :: atomic { job[m] != NONE && cancels > 0 -> cancels--; leave(m, LEFT) }
    :: atomic { job[m] != NONE && losses > 0 -> losses--; job[m] = NONE; tie[m] = 0; failed[m] = true }
    od
}

/* ---- between them */

#ifdef REMOVE_FIRST
#define FIRST(news) news?kind, m, number, at
#define AFTER(news)
#else
#define FIRST(news) news?<kind, m, number, at>
#endif

proctype up_mover()
{
    mtype kind;
    byte m, number, at;

end:
    do
    :: atomic { nempty(up) -> FIRST(up) }
        if
        :: atomic { deaths > 0 -> deaths--; goto end }
        :: skip
        fi;
        atomic { hear(kind, m, number, at) }
        if
        :: atomic { deaths > 0 -> deaths--; goto end }
        :: skip
        fi;
        atomic {
            if
            :: up??[eval(kind), eval(m), eval(number), eval(at)] ->
                up??eval(kind), eval(m), eval(number), eval(at)
            :: else
            fi;
            kind = 0; m = 0; number = 0; at = 0
        }
    od
}

proctype down_mover()
{
    mtype kind, thought;
    byte m, number, at;

end:
    do
    :: atomic { nempty(down) -> down?<kind, m, number, at, thought> }
        atomic { obey(kind, m, number, thought) }
        if
        :: atomic { deaths > 0 -> deaths--; goto end }
        :: skip
        fi;
        atomic {
            if
            :: down??[eval(kind), eval(m), eval(number), eval(at), eval(thought)] ->
                down??eval(kind), eval(m), eval(number), eval(at), eval(thought)
            :: else
            fi;
            kind = 0; thought = 0; m = 0; number = 0; at = 0
        }
    od
}

#ifdef ADDER
#define FIRST_JOB A
#else
#define FIRST_JOB B
#endif

/* Announces and parks B, then A; closes. */
proctype pusher(bool mortal)
{
    byte m = FIRST_JOB;
    bool parks;

    do
    ::
#ifdef PARK_FIRST
        atomic { parks = (state[m] == UNKNOWN || state[m] == PROMISED) }
        atomic {
            if
            :: parks -> park(m)
            :: else
            fi }
        if
        :: mortal -> goto over
        :: skip
        fi;
#endif
        atomic {
            parks = false;
            if
            :: state[m] == UNKNOWN && closed -> goto over
            :: state[m] == UNKNOWN && !closed -> state[m] = PROMISED; parks = true
            :: state[m] == PROMISED -> parks = true
            :: else
            fi }
        if
        :: mortal -> goto over
        :: skip
        fi;
#ifndef PARK_FIRST
        atomic {
            if
            :: parks -> park(m)
            :: else
            fi }
        if
        :: mortal -> goto over
        :: skip
        fi;
#endif
        if
        :: m == A -> break
        :: else -> m = A
        fi
    od;
    atomic { closed = true; decide(B) }
over:
    atomic { m = 0; parks = false }
}

#ifdef ADDER
#ifdef LET_ALL_IN
#define MAY_ADD true
#else
#define MAY_ADD (state[A] == OPEN)
#endif

/* The handler of A adds B. It may die, and go on after A has ended. */
proctype adder()
{
    bool parks;

end:
    do
    :: job[A] == LIVES ->
        atomic {
            parks = false;
            if
            :: state[B] == UNKNOWN && (!closed || MAY_ADD) ->
                assert(!closed || !FINAL(A)); state[B] = PROMISED; parks = true
            :: state[B] == PROMISED -> parks = true
            :: else
            fi }
        if
        :: break
        :: skip
        fi;
        atomic {
            if
            :: parks -> park(B)
            :: else
            fi;
            parks = false }
        break
    od
}
#endif

/* Looks after a job at any time, and where nothing else can happen. */
proctype seeker()
{
end:
    do
    :: atomic { looks > 0 && tied[A] != 0 && !FINAL(A) -> looks--; order(LOOK, A, tied[A]) }
    :: atomic { looks > 0 && tied[B] != 0 && !FINAL(B) -> looks--; order(LOOK, B, tied[B]) }
    od
}

#ifdef LOOK_NOT
#define TURNS 0
#elif defined(ADDER)
#define TURNS 3
#else
#define TURNS (LOSSES > 0 -> 3 : 0)
#endif
#define SOUGHT(m) ((tied[m] != 0 && !FINAL(m)) || state[m] == PROMISED)

#ifdef ADDER
#define NOT_ADDED (state[B] == UNKNOWN && job[B] == NONE)
#else
#define NOT_ADDED false
#endif

proctype rest()
{
    byte turns = TURNS;

    do
    :: atomic { timeout && turns > 0 ->
        turns--;
        if
        :: SOUGHT(A) -> order(LOOK, A, tied[A])
        :: else
        fi;
        if
        :: SOUGHT(B) -> order(LOOK, B, tied[B])
        :: else
        fi }
    :: atomic { timeout && turns == 0 -> break }
    od;
    assert(closed && empty(up) && empty(down));
    assert(FINAL(A) || (state[A] == BURIED && job[A] == DEAD));
    assert(FINAL(B) || NOT_ADDED || (state[B] == BURIED && job[B] == DEAD) ||
           (state[B] == WAITING && job[B] == WAITS && state[A] == BURIED));
    assert((job[A] == NONE || !FINAL(A)) && (job[B] == NONE || !FINAL(B)));
    assert((ran[A] == 1) == (state[A] == DONE) && (ran[B] == 1) == (state[B] == DONE))
}

init
{
    byte n;

    atomic {
        if /* what may happen does not have to */
        :: cancels = 0
        :: true
        fi;
        if
        :: kicks = 0
        :: true
        fi;
#ifdef KNOWN
        job[A] = LIVES;
#endif
        run world(A);
        run world(B);
        run seeker();
#ifdef ADDER
        run adder();
#endif
        run rest();
        n = 0;
        do
        :: n < UPS -> run up_mover(); n++
        :: else -> break
        od;
        n = 0;
        do
        :: n < DOWNS -> run down_mover(); n++
        :: else -> break
        od;
        n = 1;
        do
        :: n < PUSHERS -> run pusher(true); n++
        :: else -> break
        od;
        run pusher(false);
        n = 0
    }
}
