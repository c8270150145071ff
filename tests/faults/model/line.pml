/*
 * line.pml: is a job that waits for a lock forgotten while the lock is free, or overtaken?
 * (daemon/reservation/line.h)
 *
 * Jobs that all need one lock; workers that reserve, ask, run or return them; each step is one command
 * that Redis has run. One worker may begin a handler that never ends, once; one job may be cancelled
 * while it waits. Nobody looks again by himself: no timer, no time at which a job in `delayed` is due.
 * So where nothing can happen any more, all jobs must be done: an invalid end state is a job that is
 * forgotten. Job 0 was ready first, then 1, then 2. Who asks for the lock gets it only if none that is
 * in the line, called or not, was ready before; so a job that was called has its place kept.
 *
 *     spin -a line.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * Switches: DEATHS: a worker may die anywhere, once; its keeper settles for it, and asks. Then a call
 * can be lost, and jobs in `delayed` are due by themselves; with UNDUE they are not, but others ask, and
 * who was called and has not come is called again. Each of these breaks one rule: NO_ENTRY (the keeper
 * does not make a job enter that the dead worker gave back), NO_AGAIN, ENTER_FIRST, LOOK_APART,
 * FREE_SILENTLY, FORGET_REFUSED, ASK_ONCE, LEAVE_OPEN, KEEP_GONE (a place is kept for a job that does
 * not come), OVERTAKE (who comes while it is free takes it). test_line_model.sh runs them all.
 */
#define JOBS    3
#define WORKERS 2
#define NONE    JOBS

mtype = { READY, HELD, DELAYED, RUNNING, DONE };

mtype job[JOBS] = READY;
byte owner[JOBS] = NONE; /* whose token it is reserved under; no state differs by what nobody reads any more */
bool in_line[JOBS]; /* it waits */
bool called_[JOBS];  /* its place is kept */
byte lock = NONE; /* which worker has it */
byte running;
bool cancelled = false, stuck = false; /* each once */
#ifdef DEATHS
byte deaths = 1;
/* Decided with the step before; a worker that has died is settled for at any time. */
#define MAY_DIE                                          \
    if                                                   \
    :: atomic { deaths > 0 -> deaths--; goto dead }      \
    :: true                                              \
    fi
#else
#define MAY_DIE
#endif

#define ALL_DONE (job[0] == DONE && job[1] == DONE && job[2] == DONE)

#define KEPT      (called_[0] || called_[1] || called_[2])
#define BEFORE(j) ((j > 0 && (in_line[0] || called_[0])) || (j > 1 && (in_line[1] || called_[1])))
#ifdef OVERTAKE
#define FREE_FOR(j) (lock == NONE)
#else
#define FREE_FOR(j) (lock == NONE && !BEFORE(j))
#endif

/* lock_line: if the lock is free and kept for nobody, calls the first of those who wait. */
inline look()
{
    called = NONE;
    if
    :: lock == NONE && !KEPT && in_line[0] -> called = 0
    :: lock == NONE && !KEPT && !in_line[0] && in_line[1] -> called = 1
    :: lock == NONE && !KEPT && !in_line[0] && !in_line[1] && in_line[2] -> called = 2
    :: else
    fi;
    if
    :: called != NONE -> in_line[called] = false; called_[called] = true
    :: else
    fi
}

/* A job comes to wait: its place is no longer kept, it waits again. */
inline enter(j)
{
    called_[j] = false;
    in_line[j] = true
}

/* hasten, repeated if the job was not there yet. */
inline call_out()
{
    do
    :: atomic { called != NONE ->
        if
        :: job[called] == DELAYED -> job[called] = READY; owner[called] = NONE; called = NONE
        :: job[called] == READY || job[called] == HELD -> called = NONE /* it is on its way */
        :: else -> /* it does not come */
#ifndef KEEP_GONE
            called_[called] = false;
#endif
#ifdef ASK_ONCE
            called = NONE
#else
            look()
#endif
        fi }
    :: atomic { called == NONE -> break }
    od
}

proctype Worker(byte me)
{
    byte mine = NONE, called = NONE;

again:
    do
    :: atomic { ALL_DONE -> break }
    :: atomic { !stuck && !ALL_DONE -> stuck = true; break } /* in a handler that never ends */
    :: atomic { /* reserve */
        if
        :: job[0] == READY -> mine = 0
        :: job[1] == READY -> mine = 1
        :: job[2] == READY -> mine = 2
        fi;
        job[mine] = HELD; owner[mine] = me; MAY_DIE };
        if
        :: atomic { FREE_FOR(mine) -> /* lock_take */
            assert(!BEFORE(mine));
            in_line[mine] = false; called_[mine] = false;
            lock = me; job[mine] = RUNNING; running++; assert(running == 1); MAY_DIE };
            atomic { running--; job[mine] = DONE; owner[mine] = NONE; mine = NONE; MAY_DIE };
            atomic { lock = NONE; MAY_DIE }; /* lock_free */
#ifndef FREE_SILENTLY
            atomic { look(); MAY_DIE };
#ifdef LEAVE_OPEN
            if
            :: atomic { !stuck -> stuck = true; break }
            :: true
            fi;
#endif
            call_out()
#endif
        :: true -> /* refused: another has it, or had when we asked last */
#ifdef ENTER_FIRST
            atomic { enter(mine); look() }
            call_out();
            atomic { job[mine] = DELAYED }
#else
            atomic { job[mine] = DELAYED; MAY_DIE }; /* return */
#ifdef LOOK_APART
            atomic { look() }
            call_out();
            atomic { enter(mine) }
#elif defined(FORGET_REFUSED)
            skip
#else
            atomic { enter(mine); look(); MAY_DIE }; /* lock_line */
            call_out()
#endif
#endif
        fi;
        atomic { mine = NONE }
    od;
    goto end;
dead:
    atomic { /* its keeper settles */
        called = NONE;
        if
        :: mine != NONE && job[mine] == HELD && owner[mine] == me -> job[mine] = READY; owner[mine] = NONE
        :: mine != NONE && job[mine] == RUNNING && owner[mine] == me ->
            job[mine] = READY; owner[mine] = NONE; running--
#ifndef NO_ENTRY
        :: mine != NONE && job[mine] == DELAYED && owner[mine] == me && !in_line[mine] &&
           !called_[mine] -> in_line[mine] = true /* its slot is still in use */
#endif
        :: else
        fi }
    atomic {
        if
        :: lock == me -> lock = NONE
        :: else
        fi;
        look() }
    call_out();
    atomic { mine = NONE }
    goto again;
end:
    skip
}

#if defined(DEATHS) && defined(UNDUE)
active proctype Clock() /* who was called and has not come is called once more, and others ask */
{
    byte called = NONE;

    do
#ifndef NO_AGAIN
    :: atomic { called_[0] && job[0] == DELAYED && deaths == 0 -> job[0] = READY; owner[0] = NONE }
    :: atomic { called_[1] && job[1] == DELAYED && deaths == 0 -> job[1] = READY; owner[1] = NONE }
    :: atomic { called_[2] && job[2] == DELAYED && deaths == 0 -> job[2] = READY; owner[2] = NONE }
#endif
    :: atomic { called_[1] && job[1] == DONE -> called_[1] = false } /* it was cancelled */
    :: atomic { lock == NONE && !KEPT && deaths == 0 && (in_line[0] || in_line[1] || in_line[2]) ->
        look() }
        call_out()
    :: ALL_DONE -> break
    od
}
#elif defined(DEATHS)
active proctype Clock() /* a job in `delayed` is due at last */
{
    do
    :: atomic { job[0] == DELAYED && deaths == 0 -> job[0] = READY; owner[0] = NONE }
    :: atomic { job[1] == DELAYED && deaths == 0 -> job[1] = READY; owner[1] = NONE }
    :: atomic { job[2] == DELAYED && deaths == 0 -> job[2] = READY; owner[2] = NONE }
    :: atomic { called_[0] -> called_[0] = false } /* a place is kept for a second */
    :: atomic { called_[1] -> called_[1] = false }
    :: atomic { called_[2] -> called_[2] = false }
    :: ALL_DONE -> break
    od
}
#endif

proctype Canceller()
{
    if
    :: true
    :: atomic { job[1] == DELAYED && !cancelled -> cancelled = true; job[1] = DONE; owner[1] = NONE }
    fi
}

init
{
    atomic { run Worker(0); run Worker(1); run Canceller() }
}
