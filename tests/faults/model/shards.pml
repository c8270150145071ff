/*
 * shards.pml: may an id come into two shards while their number changes? (doc/protocol.md, "Shards")
 *
 * One id, which has another place under each of three counts; pushers of it that know an old plan or
 * read the present one, and may stop for as long as they like between two calls; somebody who changes
 * the plan; somebody who drops former counts; workers that end the job where it is.
 *
 *     spin -a shards.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -E
 *
 * Switches: BACK, ROUND: other changes, of count 0 to 1, 0, 1, or to 1, 2, 0. Each of these breaks one
 * of the four rules: SEEK_FENCES_NOT, DROP_FENCES_NOT, PUSH_ASKS_NOT, DROP_COMPARES_NOT.
 * tests/faults/model/test_model.sh runs them all.
 */
#ifdef BACK
#define CHANGES to(1); to(0); to(1)
#elif defined ROUND
#define CHANGES to(1); to(2); to(0)
#else
#define CHANGES to(1); to(2)
#endif
#ifndef PUSHERS
#define PUSHERS 3
#endif
#define COUNTS 3 /* also places: the id's place under count c is c */

/* In Redis: the plan, its counts with the present one first; of each place its fence, and has it the
 * id. */
byte epoch = 1, plan[COUNTS], plans = 1;
byte fence[COUNTS];
bool has[COUNTS];
byte ends = 2; /* jobs that may still end */

#define ONCE (has[0] + has[1] + has[2] <= 1)

/* Puts the count first, and removes it from where it was. */
inline to(count)
{
    d_step {
        i = 0;
        do
        :: i < plans && plan[i] != count -> i++
        :: else -> break
        od;
        if
        :: i == plans -> plans++
        :: else
        fi;
        do
        :: i > 0 -> plan[i] = plan[i - 1]; i--
        :: else -> break
        od;
        plan[0] = count;
        epoch++;
        i = 0
    }
}

proctype changer()
{
    byte i;

    CHANGES
}

/* A pusher's copy of the plan. */
inline read_plan()
{
    known = epoch;
    count = plans;
    list[0] = plan[0];
    list[1] = plan[1];
    list[2] = plan[2];
    at = 1
}

proctype pusher()
{
    byte known = 1, count = 1, at = 1, list[COUNTS], place;

    do
    :: d_step { at == 1 && known != epoch -> read_plan() }
    :: at < count -> /* seek at a former place */
        d_step {
            place = list[at];
            if
            :: fence[place] > known -> read_plan()
            :: else ->
#ifndef SEEK_FENCES_NOT
                fence[place] = known;
#endif
                at = (has[place] -> COUNTS + 1 : at + 1)
            fi
        }
    :: at == count -> /* push at the present one */
        d_step {
            place = list[0];
            if
#ifndef PUSH_ASKS_NOT
            :: fence[place] > known -> read_plan()
#endif
            :: else ->
                fence[place] = (fence[place] > known -> fence[place] : known);
                has[place] = true;
                at = COUNTS + 1
            fi
        };
        assert(ONCE)
    :: at > COUNTS -> break
    od
}

proctype worker()
{
    do
    :: d_step { ends > 0 && has[0] -> has[0] = false; ends-- }
    :: d_step { ends > 0 && has[1] -> has[1] = false; ends-- }
    :: d_step { ends > 0 && has[2] -> has[2] = false; ends-- }
    :: ends == 0 -> break
    od
}

/* Tries to drop the last former count, again and again. */
proctype sweeper()
{
    byte known, last, former[COUNTS], i;
    bool found;

    do
    :: d_step {
           plans > 1 ->
           known = epoch;
           last = plans - 1;
           i = 0;
           do
           :: i < COUNTS -> former[i] = plan[i]; i++
           :: else -> break
           od;
           i = 0
       };
#ifndef DROP_FENCES_NOT
       d_step {
           if
           :: fence[former[last]] > known -> found = true
           :: else -> fence[former[last]] = known; found = false
           fi
       };
#endif
       d_step { found = found || has[former[last]] };
       d_step {
           if
#ifdef DROP_COMPARES_NOT
           :: !found ->
               plan[0] = former[0];
               plan[1] = former[1];
               plan[2] = former[2];
               plans = last;
               epoch++
#else
           :: !found && epoch == known -> plans = last; epoch++
#endif
           :: else
           fi;
           found = false
       }
    od
}

init
{
    byte n;

    atomic {
        run changer();
        run worker();
        run sweeper();
        do
        :: n < PUSHERS -> run pusher(); n++
        :: else -> break
        od
    }
}
