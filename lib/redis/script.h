/*
 * script.h: the Lua scripts, embedded at build from scripts/ (their heads checked), and the calls
 * to them.
 *
 * A call is EVALSHA. On NOSCRIPT, conn.c sends SCRIPT LOAD and repeats the call, since nothing has
 * run.
 */
#ifndef LATER_SCRIPT_H
#define LATER_SCRIPT_H

#include "redis/command.h"
#include "redis/key.h"
#include "script_names.h" /* enum later_script: generated */

/* clang-format off */
/* @bounds jobs_max,bytes_max: #define {constant} {number} /@ {help} @/ */
#define LATER_BATCH_MAX 500 /* jobs in one call of any script */
#define LATER_CALL_BYTES 262144 /* bytes of documents in one call that pushes, which one job may exceed */
/* @end */
/* clang-format on */

/* One script as the build embeds it (script_text.c: generated). */
struct later_script_text {
    const char *name;
    const char *text; /* without comments */
    size_t len;
    const char *sha; /* SHA-1 of text, as Redis computes it: 40 hex digits */
    int key_count;
    int keys[16];     /* enum later_key, or -1: no key of a queue, given by the caller */
    int argc;         /* fixed arguments */
    int group;        /* size of the group that repeats; 0 = none */
    const char *told; /* SHA-1 of the text between the two of later_script_told; NULL: it ends no
                       * jobs */
};
extern const struct later_script_text later_script_texts[LATER_SCRIPT_COUNT];

/* What is put around a script that ends jobs, so that it tells of them (scripts/told.lua). A script
 * that tells is another one to Redis, so one that does not costs nothing. */
struct later_script_around {
    const char *before;
    size_t before_len;
    const char *after;
    size_t after_len;
};
extern const struct later_script_around later_script_told;

/* Starts a call with the queue's keys, and room for the script's fixed arguments and `groups`
 * repetitions (at most LATER_BATCH_MAX), which the caller adds next. `other` are the keys that are
 * not a queue's, in order; NULL if there are none. */
void later_script_begin(struct later_command *cmd, enum later_script script,
                        const struct later_keys *keys, const char *const *other, size_t groups);

/* The same with the keys that are not a queue's at the end. If they are not as many as in the head
 * of the script, whose name of enum later_script is written out, this does not compile. */
#define LATER_SCRIPT_BEGIN(cmd, script, keys, groups, ...)                                         \
    do {                                                                                           \
        LATER_SCRIPT_HAS(script, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *));   \
        later_script_begin(cmd, script, keys, (const char *const[]){ __VA_ARGS__ }, groups);       \
    } while (0)
#define LATER_SCRIPT_HAS(script, others)                                                           \
    _Static_assert((others) == script##_OTHERS, #script ": the head of the script has other keys")

/* The same for a script whose one other key is the set of what a token holds. */
void later_script_begin_held(struct later_command *cmd, enum later_script script,
                             const struct later_keys *keys, const char *token, size_t groups);

/* Before one of these: the call shall tell of `count` ends (1 … LATER_BATCH_MAX). After its own
 * arguments come those of later_event_add() (queue/event.h). The script must be able to
 * (`told`). */
void later_script_tell(struct later_command *cmd, size_t count);

/* Before one of these: keys behind the script's own, `(name)...` in its head. They stay the
 * caller's, until the call is begun. */
void later_script_more(struct later_command *cmd, const char *const *keys, size_t count);

/* A SCRIPT LOAD; told: of what tells. */
void later_script_load(struct later_command *cmd, enum later_script script, bool told);

#endif
