/*
 * option.h: the options of a job, as options.tab has them. Pure; nothing here is owned by a caller.
 */
#ifndef LATER_OPTION_H
#define LATER_OPTION_H

#include "job/push_item.h"
#include "later/client.h"
#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What an option's value is, and its type in struct later_new_job. */
enum later_option_kind {
    LATER_OPTION_WORD,    /* const char *: printable ASCII without space */
    LATER_OPTION_NAME,    /* const char *: the same, and without braces */
    LATER_OPTION_HOOK,    /* const char *: a type's name, or TYPE@QUEUE */
    LATER_OPTION_TEXT,    /* const char *: UTF-8 without control bytes */
    LATER_OPTION_WHOLE,   /* int32_t */
    LATER_OPTION_COUNT,   /* uint32_t; 0 = not said, as in the next three */
    LATER_OPTION_SECONDS, /* double, from 0 */
    LATER_OPTION_SPAN,    /* double: seconds, above 0 */
    LATER_OPTION_TIME,    /* double: UNIX seconds */
    LATER_OPTION_WAITS,   /* const char *: JSON of a document's `backoff` */
    LATER_OPTION_FLAG,    /* int */
    LATER_OPTION_LABEL,   /* const char *: as the name of a queue */
    LATER_OPTION_STEPS,   /* const char *: labels with commas between, or "*"; JSON: a list */
    LATER_OPTION_FATE     /* const char *: done, ended, failed */
};

struct later_option {
    const char *name; /* as a member of a document or of a line: max_attempts */
    const char *word; /* as an option of a command: max-attempts */
    enum later_option_kind kind;
    bool of_document;   /* it is a member of the document; otherwise it says how to push */
    double least, most; /* characters, bytes, seconds … */
    size_t in_job;      /* its place in struct later_new_job */
};

/* Those of the document come first. */
extern const struct later_option later_options[];
extern const size_t later_option_count;

/* Finds the option that a command spells this way; NULL if there is none. */
const struct later_option *later_option_find(const char *word);

/* Checks one of a job's numbers; 0 is always fine, since it means that the option is not set.
 * Returns 0, or -1 with *err (LATER_E_DATA), which names the option. */
int later_option_check(const struct later_option *option, double number, struct later_error *err);

/* Refuses a time that cannot be meant: one before 2001 was meant as a duration, and one beyond
 * `most` is in milliseconds. Returns 0, or -1 with *err (LATER_E_DATA). */
int later_option_check_time(const char *name, double at, double most, struct later_error *err);

/* Takes into an item what a job says of how to push it. The id is borrowed. It checks nothing. */
void later_option_take(struct later_push_item *item, const struct later_new_job *job);

#endif
