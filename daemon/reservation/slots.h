/*
 * slots.h: the jobs that each worker has reserved, in a file that supervisor and worker share.
 *
 * Each worker has its own file in state_dir/slots, mapped by both. The worker writes it without a
 * system call, the supervisor's keeper reads it, and it outlives both if they are killed, so that
 * the next laterd on this host can settle it at once.
 *
 * Every store leaves it readable, wherever a SIGKILL falls: a slot's contents are written first and
 * its state last (release order), and a reserve's token is there before the call is sent. That
 * holds while the host runs. After a power failure parts of a file may be older than others, so a
 * page from before the boot is not opened, and its leases lapse.
 *
 * A handler may overwrite its worker's page at any moment, or cut its file short. So the supervisor
 * does not trust a page. slots_used(), slots_queues() and slots_lock_leases() bound where it looks.
 * It copies strings, and everything that it settles a job by, before it uses them
 * (slots_queue_name(), slot_copy()). And slots_guard() lets it survive a page that is gone.
 *
 *     FREE ──► HELD ──► RUNNING ──► FINISHED ──► FREE      moved by the worker
 *               └────► RETURNING ──► FREE                  moved by the keeper
 *
 * A slot leaves HELD only by compare-and-swap, so worker and keeper never both act on a job.
 *
 * The page also has the locks and permits of the jobs (lock_leases.h), and counts of those that
 * have ended (counts.h).
 */
#ifndef LATERD_SLOTS_H
#define LATERD_SLOTS_H

#include "link/connections.h"
#include "job/verdict.h"
#include "later/error.h"
#include "log.h"
#include "reservation/counts.h"
#include "queue/event.h"
#include "queue/queue.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SLOTS_QUEUES      4096 /* of a pool */
#define SLOTS_CALLS       130  /* reserves under way; at most two per queue */
#define SLOTS_LOCK_LEASES 1024 /* locks and permits of all jobs that run */
#define SLOT_TEXT         1000
#define SLOT_NOTE         200 /* of how far a job has come */

enum slot_state { SLOT_FREE, SLOT_HELD, SLOT_RUNNING, SLOT_FINISHED, SLOT_RETURNING };

/* Why a job should stop: its reservation is gone, or one of its locks or permits is. */
enum { SLOT_WITHDRAWN = 1, SLOT_UNLOCKED = 2 };

/* One reserved job. Times are later_clock() seconds. */
struct slot {
    _Atomic uint32_t state;
    _Atomic uint32_t serial;    /* changes with each job */
    _Atomic uint32_t cancelled; /* keeper: SLOT_WITHDRAWN (or its lease is lost), SLOT_UNLOCKED */
    double told_cancel;         /* keeper: when its handler was told of a cancel; 0: it was not */
    _Atomic int64_t lease_end;  /* microseconds of later_clock(); the job is not begun after it */
    uint32_t queue;             /* in the page's queues */
    char token[LATER_TOKEN_LEN + 1];
    char id[LATER_ID_MAX + 1];
    char type[LATER_TYPE_MAX + 1], trace[LATER_TRACE_MAX + 1]; /* for the log: from RUNNING on */
    int32_t crashes;                                           /* -1 none, 0 suspect */
    uint32_t given; /* jobs that its token was given, in one answer; 0: not known */
    uint32_t attempt;
    uint32_t max_attempts;
    uint32_t event;  /* it runs beside others on the worker's loop */
    double began;    /* RUNNING since */
    double deadline; /* its timeout; 0 = none */
    double retry_in; /* the backoff if it crashes */
    double
        retry_until; /* what fails later is buried; 0 = it has not failed before, or no such end */
    /* How it is to be settled; valid when FINISHED or RETURNING. */
    uint8_t ending; /* enum later_ending */
    uint8_t last;   /* no attempt follows */
    uint8_t timed;  /* its retries end by time: Redis notes when it first failed */
    double wait;
    char text[SLOT_TEXT + 1]; /* while RUNNING: the job's last line in the log; of an ACK: its
                               * value, if it fits */
    double kept;              /* seconds that its result is kept; 0: not wanted */
    double keep;              /* of an ACK, seconds that the job is kept; 0: it is not */
    double ran;               /* seconds that the attempt took; 0: not known */
    double waited;            /* seconds that the job was ready; below 0: not known */
    uint32_t ends_kept;       /* ends that its queue keeps in its stream; 0: they are not told */
    uint32_t keep_max;        /* of its queue */
    /* The hooks that are pushed when it is dead or done, TYPE or TYPE@QUEUE; "" = none. */
    char on_dead[LATER_HOOK_MAX + 1], on_done[LATER_HOOK_MAX + 1];
    uint32_t value_len; /* value.h; 0: none */
    /* How far it has come: progress.h. */
    _Atomic uint32_t progress;
    uint32_t progress_told; /* keeper: the last change that Redis knows */
    double done, total;
    char note[SLOT_NOTE + 1];
    _Atomic uint32_t checkpoint; /* grows with each one that it has left (value.h); 0: none */
    uint32_t checkpoint_told;    /* keeper: the last one that was sent to Redis */
    /* What it has logged: logbook.h. */
    _Atomic uint32_t logged;  /* lines, with those of its earlier attempts; 0: none in this one */
    _Atomic uint32_t log_len; /* bytes in its file that are whole lines */
    uint32_t logged_told;     /* keeper: how many Redis was told of */
    uint32_t logs_kept;       /* of them; 0: none, and nothing is written */
};

/* A reserve that was sent. While a serial job runs, its worker reads no answers. So what such a
 * reserve took is given back by the keeper, and the worker drops the answer when it comes to it.
 *
 *     NONE ──► ASKED ──► READ ──► NONE           moved by the worker: the jobs come into slots
 *                │└─────────────► LOST ──► NONE  no answer comes: it is looked for by its token
 *                └──► CEDED ───────┘             moved to CEDED by the keeper, from there by the
 *                                                worker
 *
 * ASKED is left by compare-and-swap only, so worker and keeper never both have the jobs. */
enum { SLOT_CALL_NONE, SLOT_CALL_ASKED, SLOT_CALL_LOST, SLOT_CALL_READ, SLOT_CALL_CEDED };

struct slot_call {
    _Atomic uint32_t asked; /* one of these */
    uint32_t queue;
    char token[LATER_TOKEN_LEN + 1];
};

/* A lock or a permit that a job holds. Its contents are written first, its state last. It is ASKED
 * before the take is sent, so that whoever finds the page frees what may have been taken. To free
 * what was never taken is harmless, since the script compares the token.
 *
 *     NONE ──► ASKED ──► TAKEN ──► ENDING ──► NONE  moved by the worker
 *                │         └─► LOST ─┘ │              by the keeper: another may have it
 *                └──► LEFT ◄───────────┘              by the worker: Redis did not answer; the
 *                      └──► NONE                      keeper frees it
 * */
enum lock_lease_state {
    LEASE_NONE,
    LEASE_ASKED,
    LEASE_TAKEN,
    LEASE_LOST,
    LEASE_ENDING,
    LEASE_LEFT
};
enum lock_lease_kind { LEASE_LOCK, LEASE_PERMIT };

struct lock_lease {
    _Atomic uint32_t state;  /* enum lock_lease_state */
    _Atomic uint32_t serial; /* changes with each lease */
    _Atomic int64_t touched; /* microseconds of later_clock(): when it was last taken or renewed */
    _Atomic int64_t again;   /* keeper: do not ask before then; 0 = whenever it is due */
    uint32_t kind;           /* enum lock_lease_kind */
    uint32_t max;            /* the number of permits of this name */
    uint32_t slot;           /* of its job: index and serial */
    uint32_t slot_serial;
    double ttl;     /* seconds that it holds without renewal */
    uint64_t fence; /* for a lock: its fencing number */
    char name[201];
    char token[LATER_TOKEN_LEN + 1];
};

/* Where the supervisor waits for the wakes (wake_listener.h): may a worker be called?
 *
 *     OFF ◄──► FREE ──► CALLED ──► OFF
 *
 * The supervisor moves it to CALLED, the worker makes all other moves. CALLED is left when the
 * order has been read. A worker that died in it has not looked. In a large pool, a worker whose
 * jobs are quick is QUICK instead of OFF: it may be told of some more queues. */
enum slots_idle { SLOTS_IDLE_OFF, SLOTS_IDLE_FREE, SLOTS_IDLE_CALLED, SLOTS_IDLE_QUICK };

/* Where many hosts serve the same queues, a worker that has long waited in vain may go without
 * connections (supervisor/sleepers.h):
 *
 *     AWAKE ◄──► MAY ──► ASLEEP ──► AWAKE, with WORKER_ROUSE
 *
 * The worker falls asleep, the supervisor makes all other moves. */
enum slots_sleep { SLOTS_AWAKE, SLOTS_MAY_SLEEP, SLOTS_ASLEEP };

#define SLOTS_WHY 200 /* bytes of why a worker does not reach Redis, with the NUL */

struct slots_page {
    char magic[8];
    uint32_t slot_size, capacity;
    uint16_t endings, outcomes; /* how many its writer knew: of others a number means another */
    _Atomic uint32_t used;      /* slots from here on are FREE */
    _Atomic uint32_t busy;      /* worker: I hold something; keeper: I am watching */
    _Atomic uint32_t idle;      /* enum slots_idle */
    _Atomic uint32_t awaited;   /* supervisor: report when you are idle */
    _Atomic uint32_t sleep;     /* enum slots_sleep */
    _Atomic uint32_t waits;     /* worker: I wait for wakes myself */
    _Atomic uint32_t watched;   /* supervisor: report when you do not wait any more */
    _Atomic uint32_t running;   /* jobs that are running */
    _Atomic uint32_t stopping;  /* supervisor: jobs should stop where they can go on */
    _Atomic uint32_t lock_leases_used; /* those from here on are NONE */
    _Atomic uint32_t values;           /* slots from here on have no file */
    _Atomic uint64_t performed;        /* attempts that ended */
    _Atomic uint64_t failed;           /* of them not done */
    _Atomic int64_t heartbeat;         /* microseconds of later_clock(): slots_beat() */
    _Atomic int64_t cut_off, tried;    /* the same: since when it has tried in vain to reach Redis,
                                        * and when it did so last; 0: it reaches it */
    char cut_off_why[SLOTS_WHY];
    int64_t pid;
    char boot[40]; /* the boot of the host: Linux's boot_id */
    char prefix[LATER_PREFIX_MAX + 1];
    uint32_t queue_count;
    char queues[SLOTS_QUEUES][LATER_QUEUE_MAX + 1];
    struct connections connections; /* of the worker, to each node of a Cluster */
    struct counts_table counts;
    struct slot_call calls[SLOTS_CALLS];
    struct lock_lease lock_leases[SLOTS_LOCK_LEASES];
    struct slot slots[];
};

/* A mapped page. Owns the mapping, not the file. */
struct slots {
    uint64_t number; /* unique in this process, while an address may be used again */
    struct slots_page *page;
    size_t size;
    uint32_t capacity; /* slots in the mapping, whatever the page says */
    char *path;
    uint32_t worker;  /* its number; 0 = a worker of an earlier laterd */
    bool expelled;    /* the keeper has asked for its worker's end, and logged it */
    size_t in_outbox; /* settlements that this process has not finished, whatever the page says */
    volatile sig_atomic_t
        cut;            /* its file was cut short, so its contents are lost (slots_guard()) */
    struct slots *next; /* of all that this process has mapped */
};

/* Makes and maps a new page with room for `capacity` slots. It also takes the room on disk, so that
 * a full disk is an error here and not a SIGBUS later. NULL with *err, also if the file exists,
 * since it may be what another worker left. */
struct slots *slots_create(const char *path, uint32_t capacity, struct later_error *err);

/* Maps a page that another process left, without its counts, which that process's laterd has
 * recorded. NULL with *err if it is not a page, or is from before the host booted. */
struct slots *slots_open(const char *path, struct later_error *err);

/* Unmaps the page; with `remove` also deletes the file. NULL is fine. */
void slots_close(struct slots *slots, bool remove);

/* Moves a slot from one state to another, if it is still in the first. */
bool slot_move(struct slot *slot, enum slot_state from, enum slot_state to);

/* Returns the state; everything written before it is visible. */
enum slot_state slot_state(struct slot *slot);

/* The same for a reserve: moves it from ASKED, if it is still that. */
bool slot_call_move(struct slot_call *call, uint32_t to);

/* Sets how a job is to be settled. text is its error's, cut at SLOT_TEXT bytes; "": nothing is
 * noted, and an earlier error stays. */
void slot_finish(struct slot *slot, struct later_verdict verdict, const char *text);
/* The same for a job that goes back untouched. */
void slot_return(struct slot *slot, double wait);

/* Logs how it ends, if that is a failure or a return. why: the reason. */
void slot_log_end(const struct slot *slot, const struct log_job *fields, const char *why);

/* Keeps the last log line of a running job: if the job kills its worker, its error says what it did
 * last. */
void slot_logv(struct slot *slot, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Is any slot not FREE, or any lock lease not NONE? */
bool slots_busy(struct slots *slots);

/* For the worker: it is idle, or no longer. Returns whether to tell the supervisor. */
bool slots_set_idle(struct slots *slots, bool idle);
/* For the supervisor: is the worker idle? If not, it will tell when it is. */
bool slots_is_idle(struct slots *slots);
/* May one that was called a moment ago be told of another queue? */
bool slots_takes_more(struct slots *slots);
/* Moves `idle` from one state to another, if it is still in the first. */
bool slots_move_idle(struct slots *slots, enum slots_idle from, enum slots_idle to);

/* Moves `sleep` from one state to another, if it is still in the first. */
bool slots_move_sleep(struct slots *slots, enum slots_sleep from, enum slots_sleep to);
/* For the worker: it waits no longer, or has got jobs without having waited. Returns whether to
 * tell the supervisor. */
bool slots_stir(struct slots *slots);
/* For the supervisor: does the worker wait? If so, it will tell when it stirs. */
bool slots_watch(struct slots *slots);

/* For the worker: its loop turns. */
void slots_beat(struct slots *slots);
/* For the supervisor: has it beaten at `when` (later_clock()) or since? */
bool slots_has_beaten(const struct slots *slots, double when);

/* For the worker: it does not reach Redis, as was said in these words last. "": it does. */
void slots_cut_off(struct slots *slots, const char *why);
/* For the supervisor: for how many seconds has it tried in vain, up to its last try? 0: it reaches
 * Redis, or does not try, as while a job blocks its loop. `why` gets one line. */
double slots_is_cut_off(const struct slots *slots, char why[SLOTS_WHY]);

/* Return how many slots to look at, and how many queues there are: never more than the mapping
 * holds. */
uint32_t slots_used(const struct slots *slots);
uint32_t slots_queues(const struct slots *slots);
/* Returns how many lock leases to look at, with the same bound. */
uint32_t slots_lock_leases(const struct slots *slots);

/* Copies the name of the queue with this number to `name`; false if there is none. */
bool slots_queue_name(const struct slots *slots, uint32_t queue, char name[LATER_QUEUE_MAX + 1]);

/* A slot's job for the log. Its strings end even if the slot is written meanwhile. */
struct slot_words {
    struct log_job fields; /* of the strings below */
    char id[LATER_ID_MAX + 1], type[LATER_TYPE_MAX + 1], trace[LATER_TRACE_MAX + 1];
    char queue[LATER_QUEUE_MAX + 1];
};
const struct log_job *slot_log_fields(const struct slots *slots, const struct slot *slot,
                                      struct slot_words *words);

/* Is the time for which it is tried again over at `now`? */
bool slot_too_late(const struct slot *slot, double now);

/* Returns for how many seconds its result is kept; 0: it leaves none. */
double slot_kept(const struct slot *slot);
/* Returns how many seconds the attempt took; 0: not known, or there was none. */
double slot_ran(const struct slot *slot);
/* Returns how many ends its queue keeps in its stream; 0: they are not told. */
uint32_t slot_ends_kept(const struct slot *slot);
/* Copies what is told of its end but for the id, which is the caller's, to *event; its type to
 * `type`, to which that points. */
void slot_event(const struct slot *slot, struct later_event *event, char type[LATER_TYPE_MAX + 1]);
/* Is the job itself kept when it is done? Then *kept says how; the caller adds the host. */
bool slot_keeps(const struct slot *slot, struct later_kept *kept);

/* Is a job pushed to tell of this end? Copies what is said of it (later_document_is_hook) to
 * `hook`, and the type of the slot's job to `of`. */
bool slot_hook(const struct slot *slot, char hook[LATER_HOOK_MAX + 1], char of[LATER_TYPE_MAX + 1]);

/* Return how it is to be settled, by which verb, and as what its attempt is counted.
 * LATER_ENDED_HELD if it holds what is no ending: nobody knows how it ended, so it runs again. What
 * failed after its reservation was withdrawn counts as interrupted. */
enum later_ending slot_ending(const struct slot *slot);
enum later_verb slot_verb(const struct slot *slot);
enum later_outcome slot_counted(const struct slot *slot);

/* The contents of a slot in the reader's own memory, whatever its writer does meanwhile. */
struct slot_copy {
    char token[LATER_TOKEN_LEN + 1];
    char id[LATER_ID_MAX + 1];
    const char *how, *kind; /* static, or NULL: of its ending, if that goes with the verb */
    double wait;
};

/* Copies the slot to be settled by this verb. Each string ends, and none has a form that Redis
 * would refuse, since that would hold up everything in the same call. */
void slot_copy(const struct slot *slot, enum later_verb verb, struct slot_copy *copy);
void slot_copy_text(const struct slot *slot, char text[SLOT_TEXT + 1]);

/* Lets this process survive if the file of a mapped page is cut short or cannot be read any more
 * (SIGBUS). The page is empty from then on, and `cut`. */
void slots_guard(void);

/* For a forked process: unmaps all pages but its own. */
void slots_keep_only(const struct slots *mine);

#endif
