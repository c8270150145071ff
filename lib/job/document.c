/* document.c: reading a job document: one reader for each member, in a table. */
#include "job/document.h"

#include "job/document_inner.h"

#include "job/json.h"

#include <math.h>
#include <string.h>

#define MAX_ATTEMPTS_MAX 1000000
#define TIMEOUT_MAX      604800 /* a week, in seconds */

typedef int reader(struct later_document *doc, const struct later_json_member *value,
                   struct later_error *err);

/* ---- strings */

/* Copies a string of at most max bytes into `to`. It may hold NUL bytes: returns its length, or -1
 * with *err. */
static int read_text(const struct later_json_member *value, char *to, size_t max,
                     struct later_error *err)
{
    size_t len;

    if (value->value[0] != '"')
        return later_fail(err, LATER_E_DATA, "%s: must be a string", value->name);
    len = later_json_text(value->value, value->len, to, max);
    if (len > max)
        return later_fail(err, LATER_E_DATA, "%s: longer than %zu bytes", value->name, max);
    to[len] = '\0';
    return (int)len;
}

static bool is_type_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == ':' || c == '-';
}

static int read_type(struct later_document *doc, const struct later_json_member *value,
                     struct later_error *err)
{
    int len = read_text(value, doc->type, LATER_TYPE_MAX, err);

    if (len == 0)
        return later_fail(err, LATER_E_DATA, "type: empty");
    for (int i = 0; i < len; i++) {
        if (!is_type_char(doc->type[i]))
            return later_fail(err, LATER_E_DATA,
                              "type: must consist of letters, digits and _ . : -");
    }
    return len < 0 ? -1 : 0;
}

static int read_id(struct later_document *doc, const struct later_json_member *value,
                   struct later_error *err)
{
    int len = read_text(value, doc->id, LATER_ID_MAX, err);

    if (len == 0)
        return later_fail(err, LATER_E_DATA, "id: empty");
    for (int i = 0; i < len; i++) {
        if (doc->id[i] <= ' ' || doc->id[i] > '~')
            return later_fail(err, LATER_E_DATA, "id: must be printable ASCII without space");
    }
    return len < 0 ? -1 : 0;
}

static int read_trace(struct later_document *doc, const struct later_json_member *value,
                      struct later_error *err)
{
    int len = read_text(value, doc->trace, LATER_TRACE_MAX, err);

    for (int i = 0; i < len; i++) {
        unsigned char c = (unsigned char)doc->trace[i];

        if (c < ' ' || c == 127)
            return later_fail(err, LATER_E_DATA, "trace: must have no control bytes (%u)", c);
    }
    return len < 0 ? -1 : 0;
}

static int read_lock(struct later_document *doc, const struct later_json_member *value,
                     struct later_error *err)
{
    int len = read_text(value, doc->lock, LATER_LOCK_MAX, err);

    if (len >= 0 && (strlen(doc->lock) != (size_t)len || !later_key_name_valid(doc->lock)))
        return later_fail(err, LATER_E_DATA,
                          "lock: must be 1 to %d printable ASCII characters without space or brace",
                          LATER_LOCK_MAX);
    return len < 0 ? -1 : 0;
}

static int read_queue(struct later_document *doc, const struct later_json_member *value,
                      struct later_error *err)
{
    int len = read_text(value, doc->queue, LATER_QUEUE_MAX, err);

    if (len >= 0 && (strlen(doc->queue) != (size_t)len || !later_key_queue_valid(doc->queue)))
        return later_fail(err, LATER_E_DATA, "queue: must be 1 to %d letters, digits and _ . -",
                          LATER_QUEUE_MAX);
    return len < 0 ? -1 : 0;
}

/* ---- numbers; none is NaN or infinite */

static bool is_number(const char *value)
{
    return *value == '-' || (*value >= '0' && *value <= '9');
}

static int read_number(const struct later_json_member *value, double *to, struct later_error *err)
{
    if (!is_number(value->value))
        return later_fail(err, LATER_E_DATA, "%s: must be a number", value->name);
    *to = later_json_double(value->value);
    return 0;
}

/* 5.0 counts as 5, since a double does not tell how it was written. */
static int read_integer(const struct later_json_member *value, int min, int max, int *to,
                        struct later_error *err)
{
    double number = 0;

    if (read_number(value, &number, err) < 0)
        return -1;
    if (number < min || number > max || number != floor(number))
        return later_fail(err, LATER_E_DATA, "%s: must be an integer from %d to %d", value->name,
                          min, max);
    *to = (int)number;
    return 0;
}

static int read_priority(struct later_document *doc, const struct later_json_member *value,
                         struct later_error *err)
{
    return read_integer(value, -LATER_PRIORITY_MAX, LATER_PRIORITY_MAX, &doc->priority, err);
}

static int read_max_attempts(struct later_document *doc, const struct later_json_member *value,
                             struct later_error *err)
{
    int attempts = 0;
    int ok = read_integer(value, 1, MAX_ATTEMPTS_MAX, &attempts, err);

    doc->max_attempts = (uint32_t)attempts;
    return ok;
}

static int read_expires_at(struct later_document *doc, const struct later_json_member *value,
                           struct later_error *err)
{
    if (read_number(value, &doc->expires_at, err) < 0)
        return -1;
    return later_push_expires(doc->expires_at, err);
}

/* Reads seconds: 0 or more, or with `above` more than 0. */
static int read_seconds(const struct later_json_member *value, bool above, double most, double *to,
                        struct later_error *err)
{
    if (read_number(value, to, err) < 0)
        return -1;
    if (*to >= 0 && *to <= most && !(above && *to == 0))
        return 0;
    return later_fail(err, LATER_E_DATA,
                      above ? "%s: must be above 0 and at most %.0f seconds"
                            : "%s: must be from 0 to %.0f seconds",
                      value->name, most);
}

static int read_at(struct later_document *doc, const struct later_json_member *value,
                   struct later_error *err)
{
    if (read_number(value, &doc->at, err) < 0)
        return -1;
    if (!(doc->at >= 0 && doc->at < LATER_AT_END))
        return later_fail(err, LATER_E_DATA, "at: must be UNIX seconds from 0 to below %.0f",
                          LATER_AT_END);
    if (doc->at > 0 && doc->at < LATER_AT_MIN)
        return later_fail(err, LATER_E_DATA, "at: before the year 2001; a delay is \"in\"");
    return 0;
}

/* ---- backoff */

/* Reads seconds of a backoff: 0 or more. More than LATER_DELAY_MAX is cut when it is used. */
static int read_wait(const char *name, const char *value, double *to, struct later_error *err)
{
    const struct later_json_member number = { .name = name, .value = value };

    if (read_number(&number, to, err) < 0)
        return -1;
    if (!(*to >= 0))
        return later_fail(err, LATER_E_DATA, "%s: must be at least 0 seconds", name);
    return 0;
}

static int read_backoff_list(struct later_backoff *backoff, const char *list,
                             struct later_error *err)
{
    static const char between[] = ", \n\t\r";
    size_t count = 0;
    double wait = 0;

    for (list++; *(list += strspn(list, between)) != ']'; count++) {
        if (read_wait("backoff, in the list", list, &wait, err) < 0)
            return -1;
        if (count < LATER_BACKOFF_LIST_MAX)
            backoff->list[count] = wait;
        list += strcspn(list, ", \n\t\r]");
    }
    if (count < 1 || count > LATER_BACKOFF_LIST_MAX)
        return later_fail(err, LATER_E_DATA, "backoff: must be a list of 1 to %d numbers (%zu)",
                          LATER_BACKOFF_LIST_MAX, count);
    backoff->list_count = (uint32_t)count;
    return 0;
}

static int read_backoff_object(struct later_backoff *backoff,
                               const struct later_json_member *object, struct later_error *err)
{
    struct later_json_member parts[] = { { .name = "base" }, { .name = "max" }, { .name = NULL } };
    const char **base = &parts[0].value, **max = &parts[1].value;

    if (later_json_scan(object->value, object->len, parts, 3, err) < 0)
        return -1;
    if (parts[2].value || (!*base && !*max))
        return later_fail(err, LATER_E_DATA,
                          "backoff: an object must have base, max or both, nothing else");
    if (*base && read_wait("backoff.base", *base, &backoff->base, err) < 0)
        return -1;
    return *max ? read_wait("backoff.max", *max, &backoff->max, err) : 0;
}

static int read_backoff(struct later_document *doc, const struct later_json_member *value,
                        struct later_error *err)
{
    doc->has_backoff = true;
    if (value->value[0] == '[')
        return read_backoff_list(&doc->backoff, value->value, err);
    if (value->value[0] == '{')
        return read_backoff_object(&doc->backoff, value, err);
    if (!is_number(value->value))
        return later_fail(err, LATER_E_DATA, "backoff: must be a number, a list or an object");
    return read_wait("backoff", value->value, &doc->backoff.base, err);
}

static int read_debounce(struct later_document *doc, const struct later_json_member *value,
                         struct later_error *err)
{
    doc->again = true;
    return read_seconds(value, false, LATER_DELAY_MAX, &doc->debounce, err);
}

static int read_again(struct later_document *doc, const struct later_json_member *value,
                      struct later_error *err)
{
    doc->again = value->len == 4 && memcmp(value->value, "true", 4) == 0;
    if (doc->again || (value->len == 5 && memcmp(value->value, "false", 5) == 0))
        return 0;
    return later_fail(err, LATER_E_DATA, "again: must be true or false");
}

/* ---- which is which */

static int take_payload(struct later_document *doc, const struct later_json_member *value,
                        struct later_error *err)
{
    (void)err;
    doc->payload = value->value;
    doc->payload_len = value->len;
    return 0;
}

/* What a line of a file must not have: then it comes from `later peek --json`, and its job would be
 * pushed without its payload, or at the wrong time. */
#define REFUSED(why) .refused = why "; `later export` writes lines that can be pushed"

#define SECONDS(member, most_) .seconds = offsetof(struct later_document, member), .most = (most_)

/* A member has a reader of its own, or is refused, or is a number of seconds. */
static const struct member {
    const char *name;
    bool of_line; /* read only for LATER_DOCUMENT_LINE; these are the last */
    reader *read;
    const char *refused; /* why */
    size_t seconds;      /* where they go */
    double most;
    bool above; /* as of read_seconds() */
} members[] = {
    { "type", false, .read = read_type },
    { "payload", false, .read = take_payload },
    { "id", false, .read = read_id },
    { "trace", false, .read = read_trace },
    { "priority", false, .read = read_priority },
    { "max_attempts", false, .read = read_max_attempts },
    { "timeout", false, SECONDS(timeout, TIMEOUT_MAX), .above = true },
    { "expires_at", false, .read = read_expires_at },
    { "backoff", false, .read = read_backoff },
    { "lock", false, .read = read_lock },
    { "result", false, SECONDS(result, LATER_RESULT_MAX), .above = true },
    { "queue", true, .read = read_queue },
    { "in", true, SECONDS(in, LATER_DELAY_MAX) },
    { "at", true, .read = read_at },
    { "expires_in", true, SECONDS(expires_in, LATER_DELAY_MAX), .above = true },
    { "unique_for", true, SECONDS(unique_for, LATER_UNIQUE_MAX) },
    { "debounce", true, .read = read_debounce },
    { "max_wait", true, SECONDS(max_wait, LATER_DELAY_MAX), .above = true },
    { "throttle", true, SECONDS(throttle, LATER_UNIQUE_MAX), .above = true },
    { "again", true, .read = read_again },
    { "document", true, REFUSED("document: not for a job document") },
    { "document_base64", true, REFUSED("document: not for a job document") },
    { "state", true, REFUSED("state: would be lost") },
};

#define MEMBERS (sizeof members / sizeof *members)

static int read_member(const struct member *member, struct later_document *doc,
                       const struct later_json_member *value, struct later_error *err)
{
    if (member->read)
        return member->read(doc, value, err);
    if (member->refused)
        return later_fail(err, LATER_E_DATA, "%s", member->refused);
    return read_seconds(value, member->above, member->most,
                        (double *)(void *)((char *)doc + member->seconds), err);
}

int later_document_member(struct later_document *doc, const struct later_json_member *value,
                          struct later_error *err)
{
    size_t i = 0;

    while (strcmp(members[i].name, value->name) != 0)
        i++;
    return read_member(&members[i], doc, value, err);
}

static int read_members(struct later_document *doc, enum later_document_use use, const char *bytes,
                        size_t len, struct later_error *err)
{
    struct later_json_member found[MEMBERS];
    size_t count = 0;

    for (; count < MEMBERS && (use == LATER_DOCUMENT_LINE || !members[count].of_line); count++)
        found[count].name = members[count].name;
    if (later_json_scan(bytes, len, found, count, err) < 0)
        return -1;
    if (bytes[strspn(bytes, " \n\t\r")] != '{') /* there is something other than white space */
        return later_fail(err, LATER_E_DATA, "not an object");
    for (size_t i = 0; i < count; i++) {
        if (found[i].value && read_member(&members[i], doc, &found[i], err) < 0)
            return -1;
    }
    return 0;
}

int later_document_parse(struct later_document *doc, enum later_document_use use, const char *bytes,
                         size_t len, size_t max, struct later_error *err)
{
    memset(doc, 0, sizeof *doc);
    doc->backoff.base = doc->backoff.max = doc->backoff.jitter = -1;
    doc->payload = "null";
    doc->payload_len = strlen(doc->payload);
    if (len == 0)
        return later_fail(err, LATER_E_DATA, "no document");
    if (len > max)
        return later_fail(err, LATER_E_DATA, "too large: %zu bytes, %zu allowed", len, max);
    if (read_members(doc, use, bytes, len, err) < 0)
        return -1;
    if (!doc->type[0])
        return later_fail(err, LATER_E_DATA, "no type");
    return 0;
}
