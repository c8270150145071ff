/* test_slots.c: pages shared by two processes: who moves a slot, and what is left when one of them
 * is killed at any moment. */
#include "reservation/slots.h"

#include "base/clock.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/later-slots-XXXXXX";
static char path[64];
static struct later_error err;

static void set_up(void)
{
    strcpy(dir + sizeof dir - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/page", dir);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(dir);
}

static struct slots *create(uint32_t capacity)
{
    struct slots *slots = slots_create(path, capacity, &err);

    ck_assert_msg(slots != NULL, "%s", err.text);
    return slots;
}

static struct slots *open_it(void)
{
    struct slots *slots = slots_open(path, &err);

    ck_assert_msg(slots != NULL, "%s", err.text);
    return slots;
}

/* ---- files */

CASE("files", set_up, tear_down);

TEST(test_shared)
{
    struct slots *a = create(3), *b = open_it();

    ck_assert_uint_eq(b->page->capacity, 3);
    ck_assert_uint_eq(b->capacity, 3);
    ck_assert(!slots_busy(b));
    strcpy(a->page->slots[2].id, "x");
    ck_assert(slot_move(&a->page->slots[2], SLOT_FREE, SLOT_HELD));
    atomic_store(&a->page->used, 3);
    ck_assert(slots_busy(b));
    ck_assert_str_eq(b->page->slots[2].id, "x");
    ck_assert_int_eq(slot_state(&b->page->slots[2]), SLOT_HELD);
    slots_close(a, false);
    slots_close(NULL, true);
    slots_close(b, true);
    ck_assert_int_eq(access(path, F_OK), -1);
}

/* An existing page may be what a dead worker left, so it is not overwritten. */
TEST(test_there_already)
{
    struct slots *slots = create(1);

    ck_assert_ptr_null(slots_create(path, 1, &err));
    ck_assert_int_eq(err.code, LATER_E_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.text, path));
    ck_assert_int_eq(access(path, F_OK), 0);
    slots_close(slots, true);
}

/* A full disk is an error now, not a SIGBUS when the page is written. */
TEST(test_no_room)
{
    const struct rlimit small = { 65536, 65536 };

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    ck_assert_ptr_null(slots_create(path, 3000, &err));
    ck_assert_int_eq(err.code, LATER_E_SYSTEM);
    ck_assert_int_eq(access(path, F_OK), -1);
}

/* Changes one thing of a good page; it must not be opened then. */
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        struct slots *slots = create(2);                                                           \
        struct slots_page *page = slots->page;                                                     \
                                                                                                   \
        (void)page;                                                                                \
        change;                                                                                    \
        slots_close(slots, false);                                                                 \
        ck_assert_msg(slots_open(path, &err) == NULL, "%s", #change);                              \
        ck_assert_int_eq(err.code, LATER_E_DATA);                                                  \
        unlink(path);                                                                              \
    } while (0)

TEST(test_no_page)
{
    REFUSED(page->magic[6] = '1');
    REFUSED(page->magic[6] = '6');                       /* the last one that kept words */
    REFUSED(memset(page->magic, 0, sizeof page->magic)); /* killed while it was made */
    REFUSED(page->slot_size++);
    REFUSED(page->endings++);
    REFUSED(page->outcomes++);
    REFUSED(page->capacity++);
    REFUSED(page->capacity = UINT32_MAX);
    REFUSED(page->queue_count = SLOTS_QUEUES + 1);
    REFUSED(ck_assert_int_eq(truncate(path, 100), 0));
    REFUSED(ck_assert_int_eq(truncate(path, 0), 0));
    REFUSED(ck_assert_int_eq(truncate(path, (off_t)sizeof(struct slots_page) - 1), 0));
    REFUSED(page->boot[0] ^= 1); /* of before the host started: it may be torn */
    ck_assert_ptr_null(slots_open(path, &err));
    ck_assert_int_eq(err.code, LATER_E_SYSTEM);
    ck_assert_ptr_null(slots_open(dir, &err));
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    ck_assert_ptr_null(slots_open(path, &err));
    ck_assert_ptr_null(slots_create(path, 1, &err));
}

/* ---- states */

CASE("states", set_up, tear_down);

TEST(test_moves)
{
    struct slots *slots = create(1);
    struct slot *slot = &slots->page->slots[0];

    ck_assert_int_eq(slot_state(slot), SLOT_FREE);
    for (int from = SLOT_FREE; from <= SLOT_RETURNING; from++) {
        for (int to = SLOT_FREE; to <= SLOT_RETURNING; to++) {
            for (int is = SLOT_FREE; is <= SLOT_RETURNING; is++) {
                atomic_store(&slot->state, (uint32_t)is);
                ck_assert_int_eq(slot_move(slot, (enum slot_state)from, (enum slot_state)to),
                                 is == from);
                ck_assert_int_eq(slot_state(slot), is == from ? to : is);
            }
        }
    }
    slots_close(slots, true);
}

TEST(test_finish)
{
    const struct later_verdict done = { .ending = LATER_ENDED_DONE };
    struct slot slot = { .state = SLOT_RUNNING };
    char text[3000];

    slot_finish(&slot, (struct later_verdict){ LATER_ENDED_TIMEOUT, true, 2.5 }, "why");
    ck_assert_int_eq(slot_ending(&slot), LATER_ENDED_TIMEOUT);
    ck_assert_int_eq(slot_verb(&slot), LATER_VERB_BURY);
    ck_assert_int_eq(slot_counted(&slot), LATER_OUTCOME_TIMEOUT);
    slot.cancelled = SLOT_UNLOCKED;
    ck_assert_int_eq(slot_counted(&slot), LATER_OUTCOME_TIMEOUT);
    slot.cancelled = SLOT_WITHDRAWN; /* laterd has stopped it, since it was cancelled */
    ck_assert_int_eq(slot_counted(&slot), LATER_OUTCOME_INTERRUPTED);
    ck_assert_double_eq(slot.wait, 2.5);
    ck_assert_str_eq(slot.text, "why");
    ck_assert_int_eq(slot_state(&slot), SLOT_RUNNING); /* the state is the caller's, and last */
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    slot_finish(&slot, done, text);
    ck_assert_int_eq(slot_counted(&slot), LATER_OUTCOME_DONE);
    ck_assert_uint_eq(strlen(slot.text), SLOT_TEXT);
    for (size_t cut = 0; cut < 4; cut++) { /* U+1F600 across the end */
        memcpy(text + SLOT_TEXT - cut, "\xf0\x9f\x98\x80", 4);
        slot_finish(&slot, done, text);
        ck_assert_uint_eq(strlen(slot.text), SLOT_TEXT - cut);
        memset(text + SLOT_TEXT - cut, 'x', 4);
    }
    memcpy(text + SLOT_TEXT - 4, "\xf0\x9f\x98\x80", 4); /* it fits */
    slot_finish(&slot, done, text);
    ck_assert_uint_eq(strlen(slot.text), SLOT_TEXT);
}

/* ---- a page that was written over */

TEST(test_bounds)
{
    struct slots *slots = create(5);

    ck_assert_uint_eq(slots_used(slots), 0);
    slots->page->used = 5;
    ck_assert_uint_eq(slots_used(slots), 5);
    slots->page->used = UINT32_MAX;
    slots->page->capacity = UINT32_MAX;
    ck_assert_uint_eq(slots_used(slots), 5);
    ck_assert(!slots_busy(slots));
    slots->page->queue_count = 3;
    ck_assert_uint_eq(slots_queues(slots), 3);
    slots->page->queue_count = UINT32_MAX;
    ck_assert_uint_eq(slots_queues(slots), SLOTS_QUEUES);
    slots_close(slots, true);
}

/* What a worker writes is copied unchanged; its ending comes in the script's words. */
static void check_kept(enum later_ending ending, bool last, double wait, enum later_verb verb,
                       const char *how, const char *kind)
{
    struct slot slot = { .token = "0123456789abcdef", .id = "a" };
    struct slot_copy copy;
    char text[SLOT_TEXT + 1];

    slot_finish(&slot, (struct later_verdict){ ending, last, wait }, "text");
    slot_copy(&slot, slot_verb(&slot), &copy);
    slot_copy_text(&slot, text);
    ck_assert_int_eq(slot_verb(&slot), verb);
    ck_assert_str_eq(copy.token, "0123456789abcdef");
    ck_assert_str_eq(copy.id, "a");
    ck_assert_double_eq(copy.wait, wait);
    ck_assert_pstr_eq(copy.how, how);
    ck_assert_pstr_eq(copy.kind, kind);
    ck_assert_str_eq(text, "text");
}

TEST(test_copy_keeps_good_ones)
{
    check_kept(LATER_ENDED_DONE, false, 0, LATER_VERB_ACK, "done", NULL);
    check_kept(LATER_ENDED_EXPIRED, false, 0, LATER_VERB_EXPIRE, NULL, NULL);
    check_kept(LATER_ENDED_RETRY, false, 315360000, LATER_VERB_RELEASE, "ran", "retry");
    check_kept(LATER_ENDED_CRASH, false, 0.5, LATER_VERB_RELEASE, "crashed", "crash");
    check_kept(LATER_ENDED_HELD, false, 5, LATER_VERB_RETURN, "held", NULL);
    check_kept(LATER_ENDED_LINE, false, 2e9, LATER_VERB_RETURN, "line", NULL);
    check_kept(LATER_ENDED_SUSPECT, false, 0, LATER_VERB_RETURN, "suspect", NULL);
    check_kept(LATER_ENDED_INTERRUPTED, false, 0, LATER_VERB_RETURN, "interrupted", NULL);
    check_kept(LATER_ENDED_BAD, false, 0, LATER_VERB_BURY, "unrun", "bad");
    check_kept(LATER_ENDED_TIMEOUT, true, 0, LATER_VERB_BURY, "ran", "timeout");
}

TEST(test_copy_mends_bad_ones)
{
    char text[SLOT_TEXT + 1];
    struct slot_copy copy;
    struct slot slot;

    memset(&slot, 0x5a, sizeof slot); /* "ZZZZ…" all over */
    ck_assert_uint_eq(slot_verb(&slot), LATER_VERB_RETURN);
    slot_copy(&slot, LATER_VERB_RETURN, &copy);
    slot_copy_text(&slot, text);
    ck_assert_uint_eq(strlen(copy.id), LATER_ID_MAX);
    ck_assert_uint_eq(strlen(copy.token), LATER_TOKEN_LEN);
    ck_assert_uint_eq(strlen(text), SLOT_TEXT);
    ck_assert_str_eq(copy.how, "held");
    ck_assert_ptr_null(copy.kind);
    ck_assert_double_eq(copy.wait, 0);
    slot = (struct slot){ .ending = LATER_ENDINGS, .wait = (double)NAN };
    ck_assert_int_eq(slot_ending(&slot), LATER_ENDED_HELD);
    ck_assert_int_eq(slot_counted(&slot), LATER_OUTCOME_NONE);
    slot_copy(&slot, LATER_VERB_RELEASE, &copy); /* of another verb */
    ck_assert_ptr_null(copy.how);
    ck_assert_double_eq(copy.wait, 0);
    slot = (struct slot){ .ending = LATER_ENDED_CRASH, .last = 0x5a, .wait = -1 };
    slot_copy(&slot, LATER_VERB_BURY, &copy);
    ck_assert_str_eq(copy.how, "crashed");
    ck_assert_double_eq(copy.wait, 0);
    slot_copy(&slot, LATER_VERB_RELEASE, &copy); /* its last attempt: buried */
    ck_assert_ptr_null(copy.how);
    ck_assert_ptr_null(copy.kind);
}

TEST(test_queue_name)
{
    struct slots *slots = create(4);
    char name[LATER_QUEUE_MAX + 1];

    slots->page->queue_count = 2;
    strcpy(slots->page->queues[1], "q");
    ck_assert(slots_queue_name(slots, 1, name));
    ck_assert_str_eq(name, "q");
    ck_assert(!slots_queue_name(slots, 2, name));
    memset(slots->page, 'x', slots->size);
    ck_assert(slots_queue_name(slots, SLOTS_QUEUES - 1, name));
    ck_assert_uint_eq(strlen(name), LATER_QUEUE_MAX);
    ck_assert(!slots_queue_name(slots, SLOTS_QUEUES, name));
    slots_close(slots, true);
}

/* ---- who does not reach Redis */

TEST(test_cut_off)
{
    struct slots *a = create(1);
    char why[SLOTS_WHY];

    ck_assert_double_eq(slots_is_cut_off(a, why), 0);
    slots_cut_off(a, "NOAUTH\x1b[2J");
    atomic_fetch_sub(&a->page->cut_off, 10000000); /* ten seconds ago */
    slots_cut_off(a, "WRONGPASS");
    ck_assert_double_eq_tol(slots_is_cut_off(a, why), 10, 1);
    ck_assert_str_eq(why, "WRONGPASS");
    slots_cut_off(a, "\x1b[2J");
    slots_is_cut_off(a, why);
    ck_assert_str_eq(why, "?[2J"); /* a handler may have written it */
    atomic_fetch_sub(&a->page->tried, 10000000);
    ck_assert_double_eq(slots_is_cut_off(a, why), 0); /* a job blocks it */
    slots_cut_off(a, "");
    ck_assert_double_eq(slots_is_cut_off(a, why), 0);
    slots_close(a, true);
}

/* Its file is cut short while it is looked at: the page is empty, others are as they were. */
TEST(test_cut_short)
{
    struct slots *other = create(1000), *cut;
    char moved[sizeof path + 2];

    snprintf(moved, sizeof moved, "%s.2", path);
    ck_assert_int_eq(rename(path, moved), 0);
    cut = create(1000);
    slots_guard();
    for (int i = 0; i < 2; i++) {
        atomic_store(&cut->page->slots[999].state, SLOT_HELD);
        atomic_store(&other->page->slots[999].state, SLOT_HELD);
        ck_assert_int_eq(truncate(cut->path, 0), 0);
        ck_assert_int_eq(slot_state(&cut->page->slots[999]), i == 0 ? SLOT_FREE : SLOT_HELD);
        ck_assert_int_eq(cut->cut, 1);
        ck_assert_int_eq(cut->page->magic[0], 0);
        ck_assert_int_eq(slot_state(&other->page->slots[999]), SLOT_HELD);
        ck_assert_int_eq(other->cut, 0);
    }
    slots_close(cut, true);
    slots_close(other, true);
    unlink(moved);
}

/* A bus error elsewhere ends us, as it should. */
TEST_SIGNAL(test_bus_error_elsewhere, SIGBUS)
{
    int fd = memfd_create("elsewhere", MFD_CLOEXEC);
    volatile char *elsewhere;

    slots_guard();
    ck_assert_int_eq(ftruncate(fd, 1), 0);
    elsewhere = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    (void)elsewhere[0];
    ck_abort_msg("it is still there");
}

/* ---- two processes */

#define ROUNDS 100000

struct arena {
    _Atomic int inside;   /* who acts on the job: never more than one */
    _Atomic int overlaps; /* how often it was */
    _Atomic int returned, run, ready, stop;
};

static void act(struct arena *arena, _Atomic int *count)
{
    if (atomic_fetch_add(&arena->inside, 1) != 0)
        atomic_fetch_add(&arena->overlaps, 1);
    atomic_fetch_add(count, 1);
    atomic_fetch_sub(&arena->inside, 1);
}

/* The keeper's side: takes back what it finds HELD. */
static void keep(struct slots *slots, struct arena *arena)
{
    atomic_store(&arena->ready, 1);
    while (!atomic_load(&arena->stop)) {
        struct slot *slot = &slots->page->slots[0];

        if (slot_state(slot) != SLOT_HELD || !slot_move(slot, SLOT_HELD, SLOT_RETURNING))
            continue;
        act(arena, &arena->returned);
        atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
    }
}

/* The worker's: holds, waits a moment that changes, runs what it still has. On a busy machine the
 * keeper may not run for thousands of rounds: it goes on until both had their turn. Returns how
 * many rounds there were. */
static int work(struct slots *slots, struct arena *arena)
{
    struct slot *slot = &slots->page->slots[0];
    int i = 0;

    for (; i < ROUNDS || !arena->returned || !arena->run; i++) {
        while (slot_state(slot) != SLOT_FREE || !atomic_load(&arena->ready))
            ;
        atomic_store_explicit(&slot->state, SLOT_HELD, memory_order_release);
        for (volatile int wait = i % 512; wait > 0; wait--)
            ;
        if (!slot_move(slot, SLOT_HELD, SLOT_RUNNING))
            continue;
        act(arena, &arena->run);
        atomic_store_explicit(&slot->state, SLOT_FINISHED, memory_order_release);
        atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
    }
    while (slot_state(slot) != SLOT_FREE)
        ;
    return i;
}

CASE("processes", set_up, tear_down);

TEST(test_never_both)
{
    struct slots *slots = create(1), *theirs;
    struct arena *arena =
        mmap(NULL, sizeof *arena, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status, rounds;
    pid_t pid;

    ck_assert_ptr_ne(arena, MAP_FAILED);
    pid = fork();
    if (pid == 0) {
        theirs = slots_open(path, &err); /* a mapping of its own, as in a new laterd */
        if (!theirs)
            _exit(1);
        keep(theirs, arena);
        _exit(0);
    }
    rounds = work(slots, arena);
    atomic_store(&arena->stop, 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(arena->overlaps, 0);
    ck_assert_int_eq(arena->run + arena->returned, rounds);
    slots_close(slots, true);
}

/* ---- killed at any moment */

#define SLOTS 8

/* Everything about job n, as a worker writes it: contents first, state last. */
static void token_of(unsigned n, char token[LATER_TOKEN_LEN + 1])
{
    snprintf(token, LATER_TOKEN_LEN + 1, "%016u", n);
}

static enum later_ending ending_of(unsigned n)
{
    return (enum later_ending)(n % LATER_ENDINGS);
}

static void hold(struct slot *slot, unsigned n)
{
    slot->queue = n % 3;
    token_of(n, slot->token);
    snprintf(slot->id, sizeof slot->id, "job-%u", n);
    slot->attempt = n;
    slot->began = 0;
    slot->text[0] = '\0';
    atomic_store_explicit(&slot->state, SLOT_HELD, memory_order_release);
}

static void finish(struct slot *slot, unsigned n)
{
    char text[64];

    snprintf(text, sizeof text, "text %u", n);
    slot_finish(slot, (struct later_verdict){ ending_of(n), n % 2, n }, text);
    atomic_store_explicit(&slot->state, SLOT_FINISHED, memory_order_release);
}

/* A worker's life: reserves, holds, runs, settles, in a circle, until it is killed. */
static void live(struct slots *slots)
{
    struct slots_page *page = slots->page;

    for (unsigned n = 1;; n++) {
        struct slot *slot = &page->slots[n % SLOTS];
        struct slot_call *call = &page->calls[n % 5];

        token_of(n, call->token);
        call->queue = n % 3;
        atomic_store_explicit(&call->asked, SLOT_CALL_ASKED, memory_order_release);
        hold(slot, n);
        atomic_store(&page->used, SLOTS);
        atomic_store_explicit(&call->asked, 0, memory_order_release);
        if (n < 4)
            continue;
        slot = &page->slots[(n - 3) % SLOTS]; /* what was held three jobs ago runs */
        slot_move(slot, SLOT_HELD, SLOT_RUNNING);
        slot->began = 1;
        finish(slot, n - 3);
        atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
    }
}

static void check_slot(struct slot *slot)
{
    enum slot_state state = slot_state(slot);
    unsigned n = slot->attempt;
    char expected[64];

    ck_assert_int_le(state, SLOT_FINISHED); /* nobody returned anything */
    if (state == SLOT_FREE)
        return;
    token_of(n, expected);
    ck_assert_str_eq(slot->token, expected);
    snprintf(expected, sizeof expected, "job-%u", n);
    ck_assert_str_eq(slot->id, expected);
    ck_assert_uint_eq(slot->queue, n % 3);
    if (state == SLOT_HELD)
        ck_assert_double_eq(slot->began, 0);
    if (state != SLOT_FINISHED)
        return;
    snprintf(expected, sizeof expected, "text %u", n);
    ck_assert_str_eq(slot->text, expected);
    ck_assert_int_eq(slot_ending(slot), ending_of(n));
    ck_assert_uint_eq(slot->last, n % 2);
    ck_assert_double_eq(slot->wait, n);
}

TEST(test_killed)
{
    unsigned seed = 17, in_use = 0, asked = 0;

    for (int round = 0; round < 200; round++) {
        struct slots *slots = create(SLOTS);
        pid_t pid = fork();

        if (pid == 0)
            live(slots);
        while (atomic_load(&slots->page->used) == 0) /* until it lives */
            ;
        usleep((useconds_t)rand_r(&seed) % 500);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        slots_close(slots, false);
        slots = open_it(); /* as the next laterd does */
        for (unsigned i = 0; i < SLOTS; i++) {
            check_slot(&slots->page->slots[i]);
            in_use += slot_state(&slots->page->slots[i]) != SLOT_FREE;
        }
        for (unsigned i = 0; i < SLOTS_CALLS; i++) {
            const struct slot_call *call = &slots->page->calls[i];

            if (!atomic_load(&call->asked))
                continue;
            asked++;
            ck_assert_uint_eq(strspn(call->token, "0123456789"), LATER_TOKEN_LEN);
            ck_assert_uint_eq(call->queue, strtoul(call->token, NULL, 10) % 3);
        }
        slots_close(slots, true);
    }
    ck_assert_uint_gt(in_use, 200); /* there was something to be wrong about */
    ck_assert_uint_gt(asked, 0);
}
