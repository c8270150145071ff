/* filter.c: the conditions that choose jobs. */
#include "job/filter.h"

#include "base/duration.h"
#include "job/ending.h"
#include "job/filter_match.h"
#include "job/filter_regex.h"
#include "job/json_path.h"

#include <stdlib.h>
#include <string.h>

#define SINCE_MIN 9e8 /* UNIX seconds; an earlier score is not a time */

/* The order of `rows`. */
enum {
    STATE,
    TYPE,
    OLDER,
    NEWER,
    ERROR,
    KIND,
    HOST,
    ATTEMPTS,
    PRIORITY,
    WHERE,
    TEXT,
    NOT,
    CONDITIONS
};

struct where {
    char path[LATER_PATH_MAX + 1], value[LATER_FILTER_VALUE_MAX + 1];
};

struct later_filter {
    bool given[CONDITIONS];
    const char *state, *kinds[LATER_FILTER_MANY]; /* static */
    char types[LATER_FILTER_MANY][LATER_FILTER_VALUE_MAX + 1], text[LATER_FILTER_VALUE_MAX + 1],
        host[LATER_FILTER_VALUE_MAX + 1];
    double older, newer;              /* seconds */
    struct later_filter_regex *error; /* owned; NULL = not given */
    struct later_filter_number attempts, priority;
    struct where wheres[LATER_FILTER_WHERE_MAX];
    struct later_filter *nots[LATER_FILTER_MANY]; /* owned; of one condition each */
    size_t type_count, kind_count, where_count, not_count;
};

/* Counts one more; fails if there are as many already. */
static int filter_take_one(size_t *count, const char *name, struct later_error *err)
{
    if (*count == LATER_FILTER_MANY)
        return later_fail(err, LATER_E_USAGE, "--%s: at most %d of them", name, LATER_FILTER_MANY);
    ++*count;
    return 0;
}

/* --- state, kind, host --- */

static const char *const states[] = { "ready",   "delayed", "reserved", "dead",
                                      "waiting", "done",    NULL };

static int take_state(struct later_filter *filter, const char *value, struct later_error *err)
{
    for (const char *const *state = states; *state; state++) {
        if (strcmp(*state, value) == 0)
            filter->state = *state;
    }
    if (filter->state)
        return 0;
    return later_fail(err, LATER_E_USAGE,
                      "--state: %.40s is not one of ready, delayed, reserved, dead, "
                      "waiting, done",
                      value);
}

static bool meets_state(const struct later_filter *filter, const struct later_filter_job *job)
{
    return strcmp(job->state, filter->state) == 0;
}

static int take_kind(struct later_filter *filter, const char *value, struct later_error *err)
{
    const char *kind = later_ending_kind(value);
    char kinds[LATER_KINDS_ROOM];

    if (kind) {
        if (filter_take_one(&filter->kind_count, "kind", err) < 0)
            return -1;
        filter->kinds[filter->kind_count - 1] = kind;
        return 0;
    }
    later_ending_kinds(kinds, sizeof kinds);
    return later_fail(err, LATER_E_USAGE, "--kind: %.40s is not one of %s", value, kinds);
}

static bool meets_kind(const struct later_filter *filter, const struct later_filter_job *job)
{
    char kind[16];

    if (!later_filter_string(job->record.error, job->record.error_len, "kind", kind, sizeof kind))
        return false;
    for (size_t i = 0; i < filter->kind_count; i++) {
        if (strcmp(kind, filter->kinds[i]) == 0)
            return true;
    }
    return false;
}

static int take_host(struct later_filter *filter, const char *value, struct later_error *err)
{
    if (!*value)
        return later_fail(err, LATER_E_USAGE, "--host: must not be empty");
    strcpy(filter->host, value);
    return 0;
}

static bool meets_host(const struct later_filter *filter, const struct later_filter_job *job)
{
    char host[LATER_FILTER_VALUE_MAX + 2];

    return later_filter_string(job->record.error, job->record.error_len, "host", host,
                               sizeof host) &&
           strcmp(host, filter->host) == 0;
}

/* --- type, text, where: the document --- */

static int take_type(struct later_filter *filter, const char *value, struct later_error *err)
{
    if (filter_take_one(&filter->type_count, "type", err) < 0)
        return -1;
    strcpy(filter->types[filter->type_count - 1], value);
    return 0;
}

static bool meets_type(const struct later_filter *filter, const struct later_filter_job *job)
{
    char type[LATER_FILTER_VALUE_MAX];

    if (!job->document ||
        !later_filter_string(job->document, job->document_len, "type", type, sizeof type))
        return false;
    for (size_t i = 0; i < filter->type_count; i++) {
        if (later_filter_glob(filter->types[i], type))
            return true;
    }
    return false;
}

static int take_text(struct later_filter *filter, const char *value, struct later_error *err)
{
    if (!*value)
        return later_fail(err, LATER_E_USAGE, "--text: must not be empty");
    strcpy(filter->text, value);
    return 0;
}

static bool meets_text(const struct later_filter *filter, const struct later_filter_job *job)
{
    return job->document && later_filter_has(job->document, job->document_len, filter->text);
}

static int take_where(struct later_filter *filter, const char *value, struct later_error *err)
{
    const char *equals = strchr(value, '=');
    struct where *where = &filter->wheres[filter->where_count];

    if (!equals)
        return later_fail(err, LATER_E_USAGE,
                          "--where: must be PATH=VALUE, such as payload.tenant=42");
    if (filter->where_count == LATER_FILTER_WHERE_MAX)
        return later_fail(err, LATER_E_USAGE, "--where: at most %d of them",
                          LATER_FILTER_WHERE_MAX);
    memcpy(where->path, value, (size_t)(equals - value));
    where->path[equals - value] = '\0';
    strcpy(where->value, equals + 1);
    if (!later_json_path_valid(where->path))
        return later_fail(err, LATER_E_USAGE, "--where: %.40s is not a path such as payload.tenant",
                          where->path);
    filter->where_count++;
    return 0;
}

static bool meets_where(const struct later_filter *filter, const struct later_filter_job *job)
{
    for (size_t i = 0; i < filter->where_count; i++) {
        const struct where *where = &filter->wheres[i];
        struct later_json_member found;

        if (!job->document ||
            !later_json_path(job->document, job->document_len, where->path, &found) ||
            !later_filter_equals(&found, where->value))
            return false;
    }
    return true;
}

/* --- older, newer --- */

/* The score of a done job only says until when it is kept, so the record has the time of its end.
 */
static double ended_at(const struct later_record *record)
{
    struct later_json_member at;

    return later_json_path(record->finished, record->finished_len, "at", &at) && *at.value >= '0' &&
                   *at.value <= '9'
               ? later_json_double(at.value)
               : -1;
}

double later_filter_since(const struct later_filter_job *job)
{
    bool done = strcmp(job->state, "done") == 0;
    double since = done ? ended_at(&job->record) : job->score;

    if (strcmp(job->state, "delayed") == 0)
        return -1;
    if (job->record.since > 0 &&
        (strcmp(job->state, "ready") == 0 || strcmp(job->state, "reserved") == 0))
        return job->record.since; /* its score is its place among groups */
    if (!done && strcmp(job->state, "dead") != 0)
        since += job->record.priority * 1e6;
    return since >= SINCE_MIN ? since : -1; /* nor is NaN */
}

static int take_older(struct later_filter *filter, const char *value, struct later_error *err)
{
    return later_duration(value, "--older", &filter->older, err);
}

static bool meets_older(const struct later_filter *filter, const struct later_filter_job *job)
{
    double since = later_filter_since(job);

    return since >= 0 && job->now - since > filter->older;
}

static int take_newer(struct later_filter *filter, const char *value, struct later_error *err)
{
    return later_duration(value, "--newer", &filter->newer, err);
}

static bool meets_newer(const struct later_filter *filter, const struct later_filter_job *job)
{
    double since = later_filter_since(job);

    return since >= 0 && job->now - since < filter->newer;
}

/* --- error, attempts, priority --- */

static int filter_take_error(struct later_filter *filter, const char *value,
                             struct later_error *err)
{
    filter->error = later_filter_regex_new(value, err);
    return filter->error ? 0 : -1;
}

static bool meets_error(const struct later_filter *filter, const struct later_filter_job *job)
{
    char text[4096]; /* errors are cut at 1,000 bytes */

    return later_filter_string(job->record.error, job->record.error_len, "text", text,
                               sizeof text) &&
           later_filter_regex_found(filter->error, text);
}

static int take_attempts(struct later_filter *filter, const char *value, struct later_error *err)
{
    if (later_filter_number(value, &filter->attempts) && filter->attempts.number >= 0)
        return 0;
    return later_fail(err, LATER_E_USAGE,
                      "--attempts: %.40s is not a number, or one after > >= < <=", value);
}

static bool meets_attempts(const struct later_filter *filter, const struct later_filter_job *job)
{
    return later_filter_counts(&filter->attempts, job->record.attempts);
}

static int take_priority(struct later_filter *filter, const char *value, struct later_error *err)
{
    if (later_filter_number(value, &filter->priority))
        return 0;
    return later_fail(err, LATER_E_USAGE,
                      "--priority: %.40s is not a whole number, or one after > >= < <=", value);
}

static bool meets_priority(const struct later_filter *filter, const struct later_filter_job *job)
{
    return later_filter_counts(&filter->priority, job->record.priority);
}

/* --- not --- */

/* An age may be unknown, and a search for a regular expression may be given up: the job must not
 * count as one that was meant, for it may be cancelled. */
static bool filter_may_be_turned(const char *name)
{
    static const char *const names[] = { "state",    "type",     "kind",  "host",
                                         "attempts", "priority", "where", "text" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static int take_not(struct later_filter *filter, const char *value, struct later_error *err)
{
    const char *colon = strchr(value, ':');
    char name[16] = "";

    if (colon && (size_t)(colon - value) < sizeof name)
        memcpy(name, value, (size_t)(colon - value));
    if (!filter_may_be_turned(name))
        return later_fail(err, LATER_E_USAGE,
                          "--not: %.40s is not NAME:VALUE with state, type, kind, host, attempts, "
                          "priority, where or text",
                          value);
    if (filter_take_one(&filter->not_count, "not", err) < 0)
        return -1;
    filter->nots[filter->not_count - 1] = later_filter_new();
    if (!filter->nots[filter->not_count - 1])
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    return later_filter_add(filter->nots[filter->not_count - 1], name, colon + 1, err);
}

static bool meets_not(const struct later_filter *filter, const struct later_filter_job *job)
{
    for (size_t i = 0; i < filter->not_count; i++) {
        if (later_filter_meets(filter->nots[i], job))
            return false;
    }
    return true;
}

/* --- all of them --- */

static const struct row {
    const char *name;
    int (*take)(struct later_filter *filter, const char *value, struct later_error *err);
    bool (*meets)(const struct later_filter *filter, const struct later_filter_job *job);
    bool many; /* may be given several times */
} rows[CONDITIONS] = {
    [STATE] = { "state", take_state, meets_state, false },
    [TYPE] = { "type", take_type, meets_type, true },
    [OLDER] = { "older", take_older, meets_older, false },
    [NEWER] = { "newer", take_newer, meets_newer, false },
    [ERROR] = { "error", filter_take_error, meets_error, false },
    [KIND] = { "kind", take_kind, meets_kind, true },
    [HOST] = { "host", take_host, meets_host, false },
    [ATTEMPTS] = { "attempts", take_attempts, meets_attempts, false },
    [PRIORITY] = { "priority", take_priority, meets_priority, false },
    [WHERE] = { "where", take_where, meets_where, true },
    [TEXT] = { "text", take_text, meets_text, false },
    [NOT] = { "not", take_not, meets_not, true },
};

const char *const later_filter_names[] = { "state", "type", "older",    "newer",    "error",
                                           "kind",  "host", "attempts", "priority", "where",
                                           "text",  "not",  NULL };

struct later_filter *later_filter_new(void)
{
    return calloc(1, sizeof(struct later_filter));
}

void later_filter_free(struct later_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->not_count; i++)
        later_filter_free(filter->nots[i]);
    later_filter_regex_free(filter->error);
    free(filter);
}

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

int later_filter_add(struct later_filter *filter, const char *name, const char *value,
                     struct later_error *err)
{
    const struct row *row = find_row(name);
    size_t at = row ? (size_t)(row - rows) : 0;

    if (!row)
        return later_fail(err, LATER_E_USAGE, "%.40s is not a condition", name);
    if (filter->given[at] && !row->many)
        return later_fail(err, LATER_E_USAGE, "--%s: given twice", name);
    if (strlen(value) > LATER_FILTER_VALUE_MAX)
        return later_fail(err, LATER_E_USAGE, "--%s: longer than %d bytes", name,
                          LATER_FILTER_VALUE_MAX);
    if (row->take(filter, value, err) < 0)
        return -1;
    filter->given[at] = true;
    return 0;
}

bool later_filter_is_plain(const struct later_filter *filter)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        if (filter->given[i] && i != STATE)
            return false;
    }
    return true;
}

const char *later_filter_state(const struct later_filter *filter)
{
    return filter->state;
}

bool later_filter_meets(const struct later_filter *filter, const struct later_filter_job *job)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        if (filter->given[i] && !rows[i].meets(filter, job))
            return false;
    }
    return true;
}

int later_filter_check(const struct later_filter *filter, struct later_error *err)
{
    if (!filter->error || !later_filter_regex_gave_up(filter->error))
        return 0;
    return later_fail(
        err, LATER_E_USAGE,
        "--error: it takes too long, or too much memory, to search the errors for this "
        "expression: make it simpler");
}
