/* slots.c: the pages that supervisor and worker share. */
#include "reservation/slots.h"

#include "base/clock.h"
#include "base/printable.h"
#include "job/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP_MAX      31536000.0 /* seconds; a year */
#define TRIES_SECONDS 5.0        /* between two tries to reach Redis, at most */

static const char magic[8] = "laterdG";

/* All pages that this process has mapped. A signal handler can find them only here. */
static struct slots *mapped;
static uint64_t mapped_ever; /* how many there have been */

/* Reads the id of this boot of the host; "" if it has none. */
static void read_boot(char boot[40])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, boot, 39);

    if (fd >= 0)
        close(fd);
    boot[got > 0 ? got : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
}

static struct slots *map(const char *path, int fd, size_t size, struct later_error *err)
{
    struct slots *slots = calloc(1, sizeof *slots);

    if (!slots || !(slots->path = strdup(path))) {
        free(slots);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    slots->size = size;
    slots->page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (slots->page == MAP_FAILED) {
        later_fail(err, LATER_E_SYSTEM, "%s: mmap: %s", path, strerror(errno));
        free(slots->path);
        free(slots);
        return NULL;
    }
    slots->number = ++mapped_ever;
    slots->next = mapped;
    mapped = slots;
    return slots;
}

static void unmap(struct slots *slots)
{
    struct slots **link = &mapped;

    while (*link != slots)
        link = &(*link)->next;
    *link = slots->next;
    munmap(slots->page, slots->size);
}

struct slots *slots_create(const char *path, uint32_t capacity, struct later_error *err)
{
    size_t size = sizeof(struct slots_page) + capacity * sizeof(struct slot);
    struct slots *slots = NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int why = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size);

    if (why)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(why));
    else
        slots = map(path, fd, size, err);
    if (fd >= 0)
        close(fd);
    if (!slots) {
        if (fd >= 0)
            unlink(path);
        return NULL;
    }
    slots->capacity = capacity;
    slots->page->slot_size = sizeof(struct slot);
    slots->page->capacity = capacity;
    slots->page->endings = LATER_ENDINGS;
    slots->page->outcomes = LATER_OUTCOMES;
    read_boot(slots->page->boot);
    memcpy(slots->page->magic, magic, sizeof magic);
    return slots;
}

/* Was the page written by a laterd with the same layout? */
static bool valid(const struct slots_page *page, size_t size)
{
    return size >= sizeof *page && memcmp(page->magic, magic, sizeof magic) == 0 &&
           page->slot_size == sizeof(struct slot) && page->endings == LATER_ENDINGS &&
           page->outcomes == LATER_OUTCOMES && page->queue_count <= SLOTS_QUEUES &&
           size == sizeof *page + (size_t)page->capacity * sizeof(struct slot);
}

static bool of_this_boot(const struct slots_page *page)
{
    char boot[40];

    read_boot(boot);
    return strncmp(boot, page->boot, sizeof boot) == 0;
}

struct slots *slots_open(const char *path, struct later_error *err)
{
    struct slots *slots = NULL;
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 || fstat(fd, &st) < 0)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    else if (st.st_size < (off_t)sizeof(struct slots_page))
        later_fail(err, LATER_E_DATA, "%s: not a page of this laterd", path);
    else
        slots = map(path, fd, (size_t)st.st_size, err);
    if (fd >= 0)
        close(fd);
    if (slots && !valid(slots->page, slots->size)) {
        later_fail(err, LATER_E_DATA, "%s: not a page of this laterd", path);
        slots_close(slots, false);
        return NULL;
    }
    if (slots && !of_this_boot(slots->page)) {
        later_fail(err, LATER_E_DATA, "%s: from before this host was booted: its leases will lapse",
                   path);
        slots_close(slots, false);
        return NULL;
    }
    if (slots) {
        slots->capacity = (uint32_t)((slots->size - sizeof *slots->page) / sizeof(struct slot));
        memset(&slots->page->counts, 0, sizeof slots->page->counts);
    }
    return slots;
}

void slots_close(struct slots *slots, bool remove)
{
    if (!slots)
        return;
    unmap(slots);
    if (remove)
        unlink(slots->path);
    free(slots->path);
    free(slots);
}

void slots_keep_only(const struct slots *mine)
{
    struct slots *next;

    for (struct slots *slots = mapped; slots; slots = next) {
        next = slots->next;
        if (slots != mine)
            unmap(slots);
    }
}

/* --- a file that is cut short --- */

/* SIGBUS comes from the access that fails, not from one of the functions above. An empty page is
 * put in its place, and the access is repeated. (systemd's journald does the same, sigbus.c.) */
static void on_bus(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    int before = errno;

    (void)context;
    for (struct slots *slots = mapped; slots; slots = slots->next) {
        char *from = (char *)slots->page;

        if (at < from || at >= from + slots->size)
            continue;
        if (mmap(from, slots->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) == MAP_FAILED)
            break;
        slots->cut = 1;
        errno = before;
        return;
    }
    signal(number, SIG_DFL); /* not one of our pages: the next try ends us */
}

void slots_guard(void)
{
    struct sigaction action = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool slot_move(struct slot *slot, enum slot_state from, enum slot_state to)
{
    uint32_t expected = (uint32_t)from;

    return atomic_compare_exchange_strong(&slot->state, &expected, (uint32_t)to);
}

bool slot_call_move(struct slot_call *call, uint32_t to)
{
    uint32_t expected = SLOT_CALL_ASKED;

    return atomic_compare_exchange_strong(&call->asked, &expected, to);
}

enum slot_state slot_state(struct slot *slot)
{
    return (enum slot_state)atomic_load_explicit(&slot->state, memory_order_acquire);
}

/* Cuts between UTF-8 characters, so that the JSON made of it is valid. */
static void copy_text(char *to, size_t room, const char *from)
{
    size_t len = strlen(from);

    if (len >= room) {
        len = room - 1;
        while (len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(to, from, len);
    to[len] = '\0';
}

void slot_finish(struct slot *slot, struct later_verdict verdict, const char *text)
{
    slot->ending = (uint8_t)verdict.ending;
    slot->last = verdict.last;
    slot->wait = verdict.wait;
    copy_text(slot->text, sizeof slot->text, text);
}

void slot_return(struct slot *slot, double wait)
{
    slot_finish(slot, (struct later_verdict){ .ending = LATER_ENDED_HELD, .wait = wait }, "");
}

void slot_log_end(const struct slot *slot, const struct log_job *fields, const char *why)
{
    enum later_verb verb = slot_verb(slot);

    if (verb == LATER_VERB_RELEASE)
        log_job(LOG_WARN, fields, "failed, again in %.3f s: %s", slot->wait, why);
    else if (verb == LATER_VERB_BURY)
        log_job(LOG_WARN, fields, "failed, buried: %s", why);
    else if (verb == LATER_VERB_RETURN)
        log_job(LOG_WARN, fields, "returned (%s): %s", later_endings[slot_ending(slot)].name, why);
}

void slot_logv(struct slot *slot, const char *format, va_list args)
{
    vsnprintf(slot->text, sizeof slot->text, format, args);
}

bool slots_busy(struct slots *slots)
{
    uint32_t used = slots_used(slots);

    for (uint32_t i = 0; i < used; i++) {
        if (slot_state(&slots->page->slots[i]) != SLOT_FREE)
            return true;
    }
    used = slots_lock_leases(slots);
    for (uint32_t i = 0; i < used; i++) {
        if (atomic_load(&slots->page->lock_leases[i].state) != LEASE_NONE)
            return true;
    }
    return false;
}

/* --- who may be called --- */

bool slots_move_idle(struct slots *slots, enum slots_idle from, enum slots_idle to)
{
    uint32_t expected = (uint32_t)from;

    return atomic_compare_exchange_strong(&slots->page->idle, &expected, (uint32_t)to);
}

/* Worker and supervisor each write their own word before they read the other's, so at least one of
 * them sees both. */
bool slots_set_idle(struct slots *slots, bool idle)
{
    if (!idle) {
        slots_move_idle(slots, SLOTS_IDLE_FREE, SLOTS_IDLE_OFF);
        return false;
    }
    return (slots_move_idle(slots, SLOTS_IDLE_OFF, SLOTS_IDLE_FREE) ||
            slots_move_idle(slots, SLOTS_IDLE_QUICK, SLOTS_IDLE_FREE)) &&
           atomic_exchange(&slots->page->awaited, 0);
}

bool slots_takes_more(struct slots *slots)
{
    uint32_t idle = atomic_load(&slots->page->idle);

    return idle == SLOTS_IDLE_CALLED || idle == SLOTS_IDLE_QUICK;
}

bool slots_is_idle(struct slots *slots)
{
    if (atomic_load(&slots->page->idle) == SLOTS_IDLE_FREE)
        return true;
    atomic_store(&slots->page->awaited, 1);
    return atomic_load(&slots->page->idle) == SLOTS_IDLE_FREE;
}

/* --- who may be without connections --- */

bool slots_move_sleep(struct slots *slots, enum slots_sleep from, enum slots_sleep to)
{
    uint32_t expected = (uint32_t)from;

    return atomic_compare_exchange_strong(&slots->page->sleep, &expected, (uint32_t)to);
}

/* As above, each writes its own word before it reads the other's. */
bool slots_stir(struct slots *slots)
{
    atomic_store(&slots->page->waits, 0);
    return atomic_load(&slots->page->watched) && atomic_exchange(&slots->page->watched, 0);
}

bool slots_watch(struct slots *slots)
{
    atomic_store(&slots->page->watched, 1);
    return atomic_load(&slots->page->waits);
}

void slots_beat(struct slots *slots)
{
    atomic_store(&slots->page->heartbeat, (int64_t)(later_clock() * 1e6));
}

bool slots_has_beaten(const struct slots *slots, double when)
{
    return atomic_load(&slots->page->heartbeat) >= (int64_t)(when * 1e6);
}

/* --- who does not reach Redis --- */

void slots_cut_off(struct slots *slots, const char *why)
{
    struct slots_page *page = slots->page;
    int64_t now = (int64_t)(later_clock() * 1e6);

    if (*why)
        snprintf(page->cut_off_why, sizeof page->cut_off_why, "%s", why);
    atomic_store(&page->tried, now);
    if (!*why)
        atomic_store(&page->cut_off, 0);
    else if (!atomic_load(&page->cut_off))
        atomic_store(&page->cut_off, now);
}

double slots_is_cut_off(const struct slots *slots, char why[SLOTS_WHY])
{
    double since = (double)atomic_load(&slots->page->cut_off) / 1e6;
    double tried = (double)atomic_load(&slots->page->tried) / 1e6;

    memcpy(why, slots->page->cut_off_why, SLOTS_WHY);
    why[SLOTS_WHY - 1] = '\0';
    later_make_printable(why);
    return since > 0 && later_clock() - tried < TRIES_SECONDS ? tried - since : 0;
}

/* --- what a handler may have written over --- */

uint32_t slots_used(const struct slots *slots)
{
    uint32_t used = atomic_load(&slots->page->used);

    return used < slots->capacity ? used : slots->capacity;
}

uint32_t slots_lock_leases(const struct slots *slots)
{
    uint32_t used = atomic_load(&slots->page->lock_leases_used);

    return used < SLOTS_LOCK_LEASES ? used : SLOTS_LOCK_LEASES;
}

uint32_t slots_queues(const struct slots *slots)
{
    uint32_t count = slots->page->queue_count;

    return count < SLOTS_QUEUES ? count : SLOTS_QUEUES;
}

bool slots_queue_name(const struct slots *slots, uint32_t queue, char name[LATER_QUEUE_MAX + 1])
{
    if (queue >= slots_queues(slots))
        return false;
    memcpy(name, slots->page->queues[queue], LATER_QUEUE_MAX + 1);
    atomic_signal_fence(memory_order_seq_cst); /* the caller reads the copy */
    name[LATER_QUEUE_MAX] = '\0';
    return true;
}

static const char *word_of(char *to, const char *from, size_t size)
{
    memcpy(to, from, size);
    to[size - 1] = '\0';
    return *to ? to : NULL;
}

const struct log_job *slot_log_fields(const struct slots *slots, const struct slot *slot,
                                      struct slot_words *words)
{
    const char *queue = slots->page->queues[slot->queue % SLOTS_QUEUES];

    words->fields =
        (struct log_job){ .id = word_of(words->id, slot->id, sizeof words->id),
                          .queue = word_of(words->queue, queue, sizeof words->queue),
                          .type = word_of(words->type, slot->type, sizeof words->type),
                          .trace = word_of(words->trace, slot->trace, sizeof words->trace),
                          .attempt = slot->attempt,
                          .worker = slots->worker,
                          .ms = -1 };
    return &words->fields;
}

bool slot_too_late(const struct slot *slot, double now)
{
    double until = *(const volatile double *)&slot->retry_until; /* read once: it may change */

    return until != 0 && now >= until;
}

double slot_kept(const struct slot *slot)
{
    double kept = *(const volatile double *)&slot->kept; /* read once: it may change */

    if (!(kept > 0))
        return 0;
    return kept < 0.001 ? 0.001 : kept < LATER_RESULT_MAX ? kept : LATER_RESULT_MAX;
}

double slot_ran(const struct slot *slot)
{
    double ran = *(const volatile double *)&slot->ran; /* read once: it may change */

    return ran >= 0 && ran < KEEP_MAX ? ran : 0;
}

uint32_t slot_ends_kept(const struct slot *slot)
{
    uint32_t kept = *(const volatile uint32_t *)&slot->ends_kept; /* read once: it may change */

    return kept < LATER_EVENTS_MAX ? kept : LATER_EVENTS_MAX;
}

bool slot_keeps(const struct slot *slot, struct later_kept *kept)
{
    double life = *(const volatile double *)&slot->keep; /* read once: they may change */
    uint32_t most = *(const volatile uint32_t *)&slot->keep_max;

    if (!(life >= 0.001 && life <= KEEP_MAX) || most == 0)
        return false;
    *kept = (struct later_kept){ .most = most <= 1000000 ? most : 1000000,
                                 .life = life,
                                 .ms = slot_ran(slot) * 1000 };
    return true;
}

/* Copies a name of at most `most` bytes; "" in its place if it is none: Redis would refuse it for
 * ever. */
static void slot_copy_name(const char *from, char *to, size_t most, bool (*is_name)(const char *))
{
    memcpy(to, from, most);
    atomic_signal_fence(memory_order_seq_cst); /* what follows reads the copy, not the slot */
    to[most] = '\0';
    if (!is_name(to))
        *to = '\0';
}

bool slot_hook(const struct slot *slot, char hook[LATER_HOOK_MAX + 1], char of[LATER_TYPE_MAX + 1])
{
    enum later_verb verb = slot_verb(slot);
    const char *said = verb == LATER_VERB_ACK    ? slot->on_done
                       : verb == LATER_VERB_BURY ? slot->on_dead
                                                 : "";

    if (!*said) /* as of most */
        return false;
    slot_copy_name(said, hook, LATER_HOOK_MAX, later_document_is_hook);
    slot_copy_name(slot->type, of, LATER_TYPE_MAX, later_document_is_type);
    return *hook;
}

void slot_event(const struct slot *slot, struct later_event *event, char type[LATER_TYPE_MAX + 1])
{
    double waited = *(const volatile double *)&slot->waited; /* read once: they may change */
    double wait = *(const volatile double *)&slot->wait;

    slot_copy_name(slot->type, type, LATER_TYPE_MAX, later_document_is_type);
    *event = (struct later_event){ .type = type,
                                   .ending = slot_ending(slot),
                                   .last = slot->last,
                                   .wait = wait,
                                   .attempt = *(const volatile uint32_t *)&slot->attempt,
                                   .ran = slot_ran(slot),
                                   .waited = waited >= 0 && waited < 1e12 ? waited : -1 };
}

enum later_ending slot_ending(const struct slot *slot)
{
    uint8_t ending = *(const volatile uint8_t *)&slot->ending; /* read once: it may change */

    return ending < LATER_ENDINGS ? (enum later_ending)ending : LATER_ENDED_HELD;
}

enum later_verb slot_verb(const struct slot *slot)
{
    return later_ending_verb(slot_ending(slot), slot->last);
}

enum later_outcome slot_counted(const struct slot *slot)
{
    enum later_outcome counted = later_ending_counted(slot_ending(slot), slot->last);

    /* We have stopped it: what its handler made of that, or how long it took, is no failure. */
    if (later_outcome_failed(counted) && atomic_load(&slot->cancelled) == SLOT_WITHDRAWN)
        return LATER_OUTCOME_INTERRUPTED;
    return counted;
}

/* How release is told of it. */
static const char *slot_how(const struct slot *slot, enum later_verb verb, const char *how)
{
    if (verb != LATER_VERB_RELEASE || !slot->timed || !how)
        return how;
    return strcmp(how, "crashed") == 0 ? "crashed+" : "ran+";
}

void slot_copy(const struct slot *slot, enum later_verb verb, struct slot_copy *copy)
{
    enum later_ending ending = slot_ending(slot);
    bool goes = later_ending_verb(ending, slot->last) == verb;

    memcpy(copy->token, slot->token, sizeof copy->token);
    memcpy(copy->id, slot->id, sizeof copy->id);
    copy->wait = slot->wait;
    atomic_signal_fence(memory_order_seq_cst); /* what follows reads the copy, not the slot */
    copy->token[LATER_TOKEN_LEN] = copy->id[LATER_ID_MAX] = '\0';
    copy->how = goes ? slot_how(slot, verb, later_endings[ending].how) : NULL;
    copy->kind = goes ? later_endings[ending].kind : NULL;
    if (!(copy->wait >= 0 && copy->wait <= LATER_DELAY_MAX) &&
        !(verb == LATER_VERB_RETURN && copy->wait >= LATER_WAIT_TIME && copy->wait <= 1e10))
        copy->wait = 0;
}

void slot_copy_text(const struct slot *slot, char text[SLOT_TEXT + 1])
{
    memcpy(text, slot->text, SLOT_TEXT);
    atomic_signal_fence(memory_order_seq_cst);
    text[SLOT_TEXT] = '\0';
}
