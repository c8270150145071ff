/*
 * looks.pml: is a job forgotten in a long line, where each hardly ever looks by itself?
 * (daemon/worker/backlog.h, scripts/inc/line.lua, scripts/hasten.lua)
 *
 * Three jobs need one permit. Of those that are known to be in the line only the last one looks by
 * itself; a job that may not be there looks soon. One of two laterds may die between any two commands
 * of Redis, once, and knows of no line then. Who knows that jobs wait, or were called and have not
 * come, asks the line again. So where nothing can happen any more, all jobs must be done: an invalid
 * end state is a job that waits for ever.
 *
 *     spin -a looks.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * Switches: TAKEN_OUT: nobody dies; instead both are stopped, once, and start without the option, so
 * that nobody asks for permits any more. Each of these leaves out one rule: RARE_AT_ONCE (a job looks
 * rarely before it is known to be in the line), NO_LAST (the last one looks rarely, too), NO_AGAIN
 * (whose call was lost is not called again), OLD_DUE (its record does not say when it is due, and the
 * line may have an older time), NO_NOTE (who begins without a limit calls no other).
 * tests/faults/model/test_line_model.sh runs them all.
 */
#define JOBS    3
#define WORKERS 2
#define NONE    JOBS

mtype = { READY, HELD, DELAYED, RUNNING, DONE };  /* a job */
mtype = { OUT, IN, CALLED, LATE, AGAIN };         /* its place in the line */

mtype job[JOBS] = READY;
mtype place[JOBS] = OUT;
bool rare[JOBS];    /* it does not look by itself */
bool noted[JOBS];   /* its record says that it waits */
bool old_due[JOBS]; /* the line has another time than `delayed` */
bool told[JOBS];    /* the line was told where it is; or whoever should tell it is dead */
byte permit = NONE; /* which worker has it */
bool limited = true;
bool knows[WORKERS]; /* each is another host's */
#ifdef TAKEN_OUT
byte deaths = 0;
#else
byte deaths = 1;
#endif

#define ALL_DONE   (job[0] == DONE && job[1] == DONE && job[2] == DONE)
#define WAITS(j)   (place[j] == IN)
#define COMES(j)   (place[j] == CALLED || place[j] == LATE || place[j] == AGAIN)
#define BEFORE(j)  ((j > 0 && (WAITS(0) || place[0] == CALLED)) || (j > 1 && (WAITS(1) || place[1] == CALLED)))
/* A job that runs may be in the line once more; of the last eight not all are such. */
#define REALLY(j)  (WAITS(j) && job[j] != RUNNING && job[j] != DONE)
#define BEHIND(j)  ((j < 1 && REALLY(1)) || (j < 2 && REALLY(2)))
#define KEPT       (place[0] == CALLED || place[1] == CALLED || place[2] == CALLED)
#define ROOM       (!limited || (permit == NONE && !KEPT))
/* A second is long: it passes only if the caller died, or all workers are busy. */
#define SLOW(j)    (place[j] == CALLED && (deaths == 0 || job[j] == READY))
#ifdef NO_AGAIN
#define LOST(j)    false
#else
#define LOST(j)    (place[j] == LATE && job[j] != HELD) /* nobody asks for a minute */
#endif
#define LINE       (WAITS(0) || WAITS(1) || WAITS(2) || COMES(0) || COMES(1) || COMES(2))
#define BY         (knows[0] -> 0 : 1)
#define CALLS      (LOST(0) || LOST(1) || LOST(2) || (ROOM && (WAITS(0) || WAITS(1) || WAITS(2))))

#ifdef OLD_DUE
#define DUE(j)     (old_due[j] == 0)
#else
#define DUE(j)     true
#endif

#define MAY_DIE                                          \
    if                                                   \
    :: atomic { me == 0 && deaths > 0 -> deaths--; knows[me] = false; goto dead } \
    :: true                                              \
    fi

/* permit_line: one job, to be short. Who asks learns whether any wait. */
inline look(who)
{
    called = NONE;
    if
    :: LOST(0) -> called = 0; place[0] = AGAIN
    :: !LOST(0) && LOST(1) -> called = 1; place[1] = AGAIN
    :: !LOST(0) && !LOST(1) && LOST(2) -> called = 2; place[2] = AGAIN
    :: else ->
        if
        :: ROOM && WAITS(0) -> called = 0
        :: ROOM && !WAITS(0) && WAITS(1) -> called = 1
        :: ROOM && !WAITS(0) && !WAITS(1) && WAITS(2) -> called = 2
        :: else
        fi;
        if
        :: called != NONE -> place[called] = CALLED
        :: else
        fi
    fi;
    knows[who] = LINE || called != NONE
}

/* hasten, and the question again if it does not come. */
inline call_out()
{
    do
    :: atomic { called != NONE ->
        if
        :: job[called] == DELAYED && DUE(called) -> job[called] = READY; called = NONE
        :: job[called] == DONE || (job[called] == DELAYED && !DUE(called)) ->
            if
            :: COMES(called) -> place[called] = OUT
            :: else
            fi;
            look(me)
        :: job[called] == READY || job[called] == HELD || job[called] == RUNNING ->
            called = NONE /* it is on its way */
        fi }
    :: atomic { called == NONE -> break }
    od
}

proctype Worker(byte me)
{
    byte mine = NONE, called = NONE;
    bool seen = false, asks = false;

again:
    do
    :: atomic { ALL_DONE -> break }
    :: atomic { /* reserve */
        if
        :: job[0] == READY -> mine = 0
        :: job[1] == READY -> mine = 1
        :: job[2] == READY -> mine = 2
        fi;
        job[mine] = HELD; asks = limited;
        rare[mine] = false; old_due[mine] = false; told[mine] = false /* only of jobs in `delayed` */ }
        MAY_DIE;
        if
        :: !asks ->
#ifndef NO_NOTE
            if
            :: atomic { noted[mine] ->
                if
                :: COMES(mine) -> place[mine] = OUT
                :: else
                fi;
                look(me) }
                MAY_DIE;
                call_out()
            :: !noted[mine]
            fi;
#endif
            atomic { job[mine] = DONE; noted[mine] = false; mine = NONE }
        :: atomic { asks && permit == NONE && !BEFORE(mine) -> permit = me; place[mine] = OUT;
            job[mine] = RUNNING }
            MAY_DIE;
            atomic { job[mine] = DONE; noted[mine] = false }
            MAY_DIE;
            atomic { permit = NONE; mine = NONE }
            MAY_DIE;
            atomic { look(me) }
            MAY_DIE;
            call_out()
        :: atomic { asks && !(permit == NONE && !BEFORE(mine)) -> seen = place[mine] != OUT;
#ifdef RARE_AT_ONCE
            seen = true;
#endif
#ifdef NO_LAST
            rare[mine] = seen; seen = false }
#else
            rare[mine] = seen && BEHIND(mine); seen = false }
#endif
            MAY_DIE;
            atomic { job[mine] = DELAYED; noted[mine] = true; old_due[mine] = true; told[mine] = false } /* return */
            MAY_DIE;
            atomic { place[mine] = IN; old_due[mine] = false; told[mine] = true; mine = NONE; look(me) }
            MAY_DIE;
            call_out()
        fi;
    od;
    goto end;
dead:
    atomic { /* its job lapses, and its permit ends; laterd starts again */
        if
        :: mine != NONE && (job[mine] == HELD || job[mine] == RUNNING) -> job[mine] = READY
        :: mine != NONE && job[mine] == DELAYED -> told[mine] = true
        :: else
        fi;
        if
        :: permit == me -> permit = NONE
        :: else
        fi;
        mine = NONE; called = NONE; seen = false; asks = false }
    goto again;
end:
    skip
}

/* What happens by itself. */
active proctype Time()
{
    byte called = NONE;

    do
    :: atomic { (knows[0] || knows[1]) && CALLS -> look(BY);
            do
            :: called == NONE -> break
            :: called != NONE && job[called] == DELAYED && DUE(called) -> job[called] = READY; called = NONE
            :: called != NONE && (job[called] == READY || job[called] == HELD || job[called] == RUNNING) ->
                called = NONE
            :: else ->
                if
                :: COMES(called) -> place[called] = OUT
                :: else
                fi;
                look(BY)
            od }
    :: atomic { job[0] == DELAYED && told[0] && !rare[0] -> job[0] = READY }
    :: atomic { job[1] == DELAYED && told[1] && !rare[1] -> job[1] = READY }
    :: atomic { job[2] == DELAYED && told[2] && !rare[2] -> job[2] = READY }
    :: atomic { SLOW(0) -> place[0] = LATE }
    :: atomic { SLOW(1) -> place[1] = LATE }
    :: atomic { SLOW(2) -> place[2] = LATE }
    :: atomic { place[0] == AGAIN && job[0] != HELD -> place[0] = OUT }
    :: atomic { place[1] == AGAIN && job[1] != HELD -> place[1] = OUT }
    :: atomic { place[2] == AGAIN && job[2] != HELD -> place[2] = OUT }
    :: ALL_DONE -> break
    od
}

/* laterd stops, and starts without the option: who holds a permit is done with it. */
#ifdef TAKEN_OUT
active proctype Taker()
{
    if
    :: true
    :: atomic { limited && permit == NONE -> limited = false; knows[0] = false; knows[1] = false }
    fi
}
#endif

init
{
    atomic { run Worker(0); run Worker(1) }
}
