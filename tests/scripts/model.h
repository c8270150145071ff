/*
 * model.h: a queue as the contract describes it, in plain C: what the scripts must do.
 *
 * The model knows nothing of Redis's time. A score that a script makes from it is read once, where
 * it appears, checked to lie in the time of the call, and from then on expected to stay.
 */
#ifndef TESTS_SCRIPTS_MODEL_H
#define TESTS_SCRIPTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#define MODEL_JOBS   400
#define MODEL_GROUPS 3   /* A, B, C */
#define MODEL_RANKS  201 /* priorities from -100 on */
#define MODEL_TYPES  2   /* that are paused now and then */

enum state { READY, DELAYED, RESERVED, DEAD, STATES };

struct job {
    char id[64]; /* of a plain member: its document */
    char document[64];
    enum state state;
    bool plain; /* not adopted yet */
    char token; /* of a reserved one */
    int priority, attempts, interrupts;
    int crashes; /* -1: none; 0: a suspect */
    int stay;    /* seconds that its id is to stay taken after it; 0: not at all */
    int error;   /* the attempt that the last error tells of; -1: no error */
    double score;
    double left;    /* of a reserved one: the score it had in ready */
    char group;     /* 'A' and so on; 0: no job has one */
    bool placed;    /* it has a place in ready by its group */
    double told;    /* tag l of its record: when it was due by that, */
    char waits[16]; /* and what it waits for, or has waited: KIND NAME; "": nothing so far */
};

/* The pause of a type, and the jobs that it keeps, or has kept, with the places that they had. */
struct pause {
    bool laid;
    double until; /* 0: it lasts */
    struct aside {
        char id[64];
        double place;
    } aside[MODEL_JOBS];
    size_t count;
};

/* What decides on the next place of a priority (doc/protocol.md, "Groups"): V, and the F of each
 * group. `leaving`: of jobs that a push replaces. */
struct front {
    bool known;
    double tag, last[MODEL_GROUPS];
    int leaving[MODEL_GROUPS];
};

enum counter {
    PUSHED,
    ADOPTED,
    DUPLICATE,
    REPLACED,
    DONE,
    RELEASED,
    RETURNED,
    BURIED,
    KICKED,
    EXPIRED,
    CANCELLED,
    PURGED,
    TRIMMED,
    LAPSED,
    MOVED,
    COUNTERS
};

/* An id whose job has ended: until when it is taken; a time below MODEL_PAST has passed. `known`:
 * its record says so, and no later job has it. */
struct unique {
    char id[64];
    double score;
    bool known;
};

#define MODEL_PAST 1e9
#define DIGIT      0.000002 /* scores have six places */

struct model {
    struct job jobs[MODEL_JOBS];
    struct unique uniques[MODEL_JOBS];
    size_t unique_count;
    size_t count;
    bool paused, wake;
    double singly; /* until when who was idle gets one job at a time */
    bool groups;   /* each job has one */
    struct front fronts[MODEL_RANKS];
    struct pause pauses[MODEL_TYPES];
    long long counters[COUNTERS];
};

/* "ready" … */
extern const char *const model_states[STATES];

/* The types that are paused. */
extern const char *const model_types[MODEL_TYPES];

/* Returns the job of this id, or the plain member with these bytes in this state, or NULL. */
struct job *model_find(struct model *model, const char *id);
struct job *model_find_plain(struct model *model, const char *document, enum state state);

/* A new job, everything at its beginning. It moves when another is dropped. */
struct job *model_add(struct model *model, const char *id, const char *document);
void model_drop(struct model *model, struct job *job);

/* The jobs of a state in their order: `out` has room for MODEL_JOBS. Returns how many. */
size_t model_sorted(struct model *model, enum state state, struct job **out);

/* What is known of its priority. */
struct front *model_front(struct model *model, const struct job *job);

/* How many jobs of its group and priority have a place in ready. */
int model_beside(const struct model *model, const struct job *job);

/* The job's member in the set of its state. */
const char *model_member(const struct job *job);

/* Gives a plain job its id: the SHA-1 of its bytes, with -2, -3 … if that is taken. */
void model_adopt(struct model *model, struct job *job);

/* The entry of an id in `unique`, or NULL; is it taken by a job that has ended? */
struct unique *model_unique(struct model *model, const char *id);
bool model_taken(struct model *model, const char *id);

/* An id stays taken; or is free, or a job's again. */
void model_unique_set(struct model *model, const char *id, double score);
void model_unique_drop(struct model *model, const char *id);
void model_unique_forget(struct model *model, const char *id);

/* Removes those whose time has passed, the earliest first, at most this many. */
void model_unique_trim(struct model *model, size_t most);

/* What the pause keeps of this job, or NULL. */
struct aside *model_aside(struct pause *pause, const char *id);

/* Is it in `delayed`, and due as its record says of a line; or of the pause of this type? */
bool model_in_line(const struct job *job);
bool model_is_aside(const struct job *job, int type);

/* The wake that some verbs leave. */
void model_leave_wake(struct model *model);

/* Fails the test if Redis holds anything else. */
void model_compare(struct model *model);

#endif
