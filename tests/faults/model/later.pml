/*
 * later.pml: how a job moves between Redis, workers, keeper and migrator.
 *
 * One job; two workers with a slot page each; the keeper of their host; the migrator; Redis, which
 * runs a command at some time after it was sent, even if who sent it is dead by then. Faults, so
 * many of each as the constants say: a worker dies, a reply is lost, a lease runs out though its
 * holder lives (holder and keeper are stopped), a handler fails, Redis goes back to a snapshot.
 *
 *     spin -a later.pml && cc -O2 -DNFAIR=3 -o pan pan.c && ./pan -a -N safe
 *
 * Switches: ROLLBACK: Redis goes back once. COUNTER: tokens are a counter kept in Redis (broken
 * with ROLLBACK). UNOWNED: release does not look at the token (broken). FOREVER: a retry counts no
 * attempt (broken). tests/faults/model/test_model.sh runs them all.
 */
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef LAPSES
#define LAPSES 1
#endif
#define ATTEMPTS_MAX 2
#define CRASH_MAX    2

mtype = { FREE, ASKED, MISSED, HELD, RUNNING, FINISHED }; /* a slot, and its reserve call */
mtype = { NONE, RESERVE, ACK, RELEASE, BURY, UNRUN, RETURN, CRASHED };
mtype = { SILENT, DONE, NOTHING, UNHEARD }; /* a reply */

/* In Redis: the sets the job may be in, its reservation, its counters. */
bool ready = true, delayed = false, reserved = false, dead = false, gone = false;
byte token, attempts, crashes, counter;
byte born; /* which reservation this is: not in Redis, but truth, for the checks */

/* A snapshot of the same, for the rollback. */
bool s_ready, s_delayed, s_reserved, s_dead, s_gone, went_back = false;
byte s_token, s_attempts, s_crashes, s_counter, s_born;

typedef Page {
    mtype slot = FREE;
    mtype verb = NONE; /* from FINISHED on */
    byte token, born, attempts, crashes;
    byte draws; /* makes this worker's next token unique */
    bool alive = true;
    mtype sent = NONE; /* a command without an effect yet */
    mtype reply = SILENT;
}
Page page[2];
byte deaths = CRASHES, losses = LOSSES, lapses = LAPSES;
byte births, runs;
bool foreign = false; /* a settlement was taken from who did not hold the job */

#define SETS (ready + delayed + reserved + dead + gone)

/* --- the scripts; each is atomic --- */

inline take(w)
{
    if
    :: ready ->
        ready = false; reserved = true;
#ifdef COUNTER
        counter++; page[w].token = counter;
#else
        page[w].draws++; page[w].token = 2 * page[w].draws + w;
#endif
        token = page[w].token;
        births++; born = births; page[w].born = births;
        page[w].attempts = attempts; page[w].crashes = crashes;
        page[w].reply = DONE
    :: else -> page[w].reply = NOTHING
    fi
}

/* Everything that ends a reservation. */
inline settle(w, what)
{
    if
#ifdef UNOWNED
    :: (reserved && token == page[w].token) || what == RELEASE ->
#else
    :: reserved && token == page[w].token ->
#endif
        foreign = foreign || !reserved || born != page[w].born;
        reserved = false; token = 0;
        if
        :: what == ACK -> gone = true
        :: what == UNRUN -> dead = true
        :: what == BURY -> dead = true; attempts++
        :: what == RETURN -> ready = true
        :: what == CRASHED -> ready = true; crashes++; attempts++
        :: what == RELEASE ->
            delayed = true;
#ifndef FOREVER
            attempts++
#endif
        fi
    :: else
    fi;
    page[w].reply = DONE
}

inline hear(w) /* the reply arrives, or does not */
{
    if
    :: losses > 0 -> losses--; page[w].reply = UNHEARD
    :: true
    fi
}

/* --- Redis: runs what was sent --- */

inline run_one(w)
{
    if
    :: page[w].sent == RESERVE -> take(w) /* of a dead worker too, since its token is in the page */
    :: else -> settle(w, page[w].sent)
    fi;
    page[w].sent = NONE;
    if
    :: page[w].alive -> hear(w)
    :: else -> page[w].reply = SILENT
    fi
}

active proctype Redis()
{
    do
    :: atomic { page[0].sent != NONE -> run_one(0) }
    :: atomic { page[1].sent != NONE -> run_one(1) }
    od
}

/* --- a worker: reserve, run, settle --- */

proctype Worker(byte w)
{
    do
    :: atomic {
        page[w].alive && page[w].slot == FREE && ready && page[w].sent == NONE ->
        page[w].slot = ASKED; page[w].reply = SILENT; page[w].sent = RESERVE }
    :: atomic {
        page[w].alive && page[w].slot == ASKED && page[w].reply != SILENT ->
        if
        :: page[w].reply == DONE -> page[w].slot = HELD
        :: page[w].reply == NOTHING -> page[w].slot = FREE
        :: page[w].reply == UNHEARD -> page[w].slot = MISSED
        fi;
        page[w].reply = SILENT }
    :: atomic { /* what it took is found by its token and returned */
        page[w].alive && page[w].slot == MISSED -> settle(w, RETURN);
        page[w].reply = SILENT; page[w].slot = FREE }
    :: atomic { /* a worker may wait here for as long as it likes: that is a pause */
        page[w].alive && page[w].slot == HELD ->
        if
        :: page[w].attempts >= ATTEMPTS_MAX || page[w].crashes >= CRASH_MAX ->
            page[w].verb = UNRUN; page[w].slot = FINISHED
        :: else -> page[w].slot = RUNNING; runs++
        fi }
    :: atomic { /* drain, a slow job before it: back, untouched */
        page[w].alive && page[w].slot == HELD && losses > 0 -> losses--;
        page[w].verb = RETURN; page[w].slot = FINISHED }
    :: atomic {
        page[w].alive && page[w].slot == RUNNING ->
        if
        :: page[w].verb = ACK
        :: page[w].attempts + 1 < ATTEMPTS_MAX -> page[w].verb = RELEASE
        :: page[w].attempts + 1 >= ATTEMPTS_MAX -> page[w].verb = BURY
        fi;
        page[w].slot = FINISHED }
    :: atomic {
        page[w].alive && page[w].slot == FINISHED && page[w].sent == NONE &&
        page[w].reply == SILENT -> page[w].sent = page[w].verb }
    :: atomic {
        page[w].alive && page[w].slot == FINISHED && page[w].reply != SILENT ->
        if
        :: page[w].reply == UNHEARD -> skip /* again */
        :: else -> page[w].slot = FREE; page[w].verb = NONE
        fi;
        page[w].reply = SILENT }
    od
}

/* --- kill -9 --- */

proctype Killer()
{
    do
    :: atomic { deaths > 0 && page[0].alive && page[0].slot != FREE ->
        deaths--; page[0].alive = false; page[0].reply = SILENT }
    :: atomic { deaths > 0 && page[1].alive && page[1].slot != FREE ->
        deaths--; page[1].alive = false; page[1].reply = SILENT }
    :: break
    od
}

/* --- the keeper settles for the dead, then a new worker gets the seat --- */

inline bury_worker(w)
{
    if
    :: page[w].slot == HELD -> settle(w, RETURN)
    :: page[w].slot == RUNNING && (page[w].attempts + 1 >= ATTEMPTS_MAX ||
        page[w].crashes + 1 >= CRASH_MAX) -> settle(w, BURY)
    :: page[w].slot == RUNNING && page[w].attempts + 1 < ATTEMPTS_MAX &&
        page[w].crashes + 1 < CRASH_MAX -> settle(w, CRASHED)
    :: page[w].slot == FINISHED -> settle(w, page[w].verb)
    :: page[w].slot == ASKED || page[w].slot == MISSED -> settle(w, RETURN) /* by the token */
    :: else
    fi;
    if
    :: losses > 0 -> losses-- /* no reply: it is sent again */
    :: true ->
        page[w].slot = FREE; page[w].verb = NONE; page[w].reply = SILENT;
        page[w].alive = true
    fi
}

/* A reserve in flight when its worker died is looked for twice, the second time when it has run: so
 * what the keeper waits for here is `sent` of a reserve. Settlements may run at any time. */
active proctype Keeper()
{
    do
    :: atomic { !page[0].alive && page[0].sent != RESERVE -> bury_worker(0) }
    :: atomic { !page[1].alive && page[1].sent != RESERVE -> bury_worker(1) }
    od
}

/* --- the migrator --- */

#define HOLDS(w) (page[w].token == token && (page[w].slot != FREE))

active proctype Migrator()
{
    do
    :: atomic { delayed -> delayed = false; ready = true }
    :: atomic { /* the lease ran out: nobody renewed it, or the keeper was stopped for too long */
        reserved && (lapses > 0 || !(HOLDS(0) || HOLDS(1))) ->
        if
        :: HOLDS(0) || HOLDS(1) -> lapses--
        :: else
        fi;
        reserved = false; token = 0; ready = true; attempts++ }
    od
}

#ifdef ROLLBACK
active proctype Rollback()
{
    atomic { s_ready = ready; s_delayed = delayed; s_reserved = reserved; s_dead = dead;
        s_gone = gone; s_token = token; s_attempts = attempts; s_crashes = crashes;
        s_counter = counter; s_born = born }
    atomic { ready = s_ready; delayed = s_delayed; reserved = s_reserved; dead = s_dead;
        gone = s_gone; token = s_token; attempts = s_attempts; crashes = s_crashes;
        counter = s_counter; born = s_born; went_back = true }
}
#endif

init
{
    atomic { run Worker(0); run Worker(1); run Killer() }
}

#define IN_BOUNDS (attempts <= ATTEMPTS_MAX + LAPSES + 1 && (went_back || runs <= ATTEMPTS_MAX))

ltl safe { [] (SETS == 1 && !foreign && IN_BOUNDS) } /* the next three */
ltl conserved { [] (SETS == 1) }
ltl no_foreign { [] !foreign }
ltl bounded { [] IN_BOUNDS }
ltl ends { <> [] (gone || dead) }
ltl done_is_done { [] (gone -> [] (gone || went_back)) }
