/* document.c: reading a job document: one reader for each member, in a table. */
#include "job/document.h"

#include "base/uncleared.h"
#include "job/json.h"
#include "job/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct member;

/* Reads the value of a member into *doc. */
typedef int reader(struct later_document *doc, const struct member *member,
                   const struct later_json_member *value, struct later_error *err);

/* A member has a reader, or is refused. */
struct member {
    const char *name;
    bool of_line; /* read only for LATER_DOCUMENT_LINE; these are the last */
    reader *read;
    double least, most;
    size_t at;           /* its place in struct later_document */
    const char *refused; /* why */
    /* Of a text with a form: has it that, and what is it? counted: 1 to `most` of that. */
    bool (*fits)(const char *text);
    const char *form;
    bool counted;
    bool is_span; /* of seconds: above 0 */
};

static void *field_of(struct later_document *doc, const struct member *member)
{
    return (char *)doc + member->at;
}

/* ---- strings */

/* Copies a string of at most max bytes into `to`. It may hold NUL bytes: returns its length, or -1
 * with *err. */
static int document_read_text(const struct later_json_member *value, char *to, size_t max,
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

bool later_document_is_type(const char *name)
{
    size_t len = 0;

    while (is_type_char(name[len]))
        len++;
    return len >= 1 && len <= LATER_TYPE_MAX && !name[len];
}

bool later_document_is_hook(const char *text)
{
    const char *at = strchr(text, '@');
    char type[LATER_TYPE_MAX + 1];

    if (!at)
        return later_document_is_type(text);
    if (at - text > LATER_TYPE_MAX)
        return false;
    memcpy(type, text, (size_t)(at - text));
    type[at - text] = '\0';
    return later_document_is_type(type) && later_key_queue_valid(at + 1);
}

static bool is_word(const char *text)
{
    while (*text > ' ' && *text <= '~')
        text++;
    return !*text;
}

/* A text of one form, which its member names. */
static int read_form(struct later_document *doc, const struct member *member,
                     const struct later_json_member *value, struct later_error *err)
{
    char *to = field_of(doc, member);
    int len = document_read_text(value, to, (size_t)member->most, err);

    if (len < 0)
        return -1;
    if (len == 0 && !member->counted)
        return later_fail(err, LATER_E_DATA, "%s: empty", member->name);
    if (strlen(to) == (size_t)len && member->fits(to))
        return 0;
    if (member->counted)
        return later_fail(err, LATER_E_DATA, "%s: must be 1 to %.0f %s", member->name, member->most,
                          member->form);
    return later_fail(err, LATER_E_DATA, "%s: must %s", member->name, member->form);
}

static int document_read_line(struct later_document *doc, const struct member *member,
                              const struct later_json_member *value, struct later_error *err)
{
    char *to = field_of(doc, member);
    int len = document_read_text(value, to, (size_t)member->most, err);

    for (int i = 0; i < len; i++) {
        unsigned char c = (unsigned char)to[i];

        if (c < ' ' || c == 127)
            return later_fail(err, LATER_E_DATA, "%s: must have no control bytes (%u)",
                              member->name, c);
    }
    return len < 0 ? -1 : 0;
}

/* ---- what ties it to a flow */

/* Is it a list of 1 to `most` names as of queues, or of "*" alone? Its bytes stay where they are.
 */
static int read_steps(struct later_document *doc, const struct member *member,
                      const struct later_json_member *value, struct later_error *err)
{
    static const char between[] = ", \n\t\r";
    const char *at = value->value + 1;
    bool is_star = false, is_good = value->value[0] == '[';
    size_t count = 0;

    for (; is_good && *(at += strspn(at, between)) == '"'; count++) {
        size_t len = strcspn(at + 1, "\"");
        char step[LATER_STEP_MAX + 1];

        snprintf(step, sizeof step, "%.*s", (int)len, at + 1);
        is_star = is_star || (len == 1 && *step == '*');
        is_good = is_star || (len <= LATER_STEP_MAX && later_key_queue_valid(step));
        at += len + 2;
    }
    if (!is_good || *at != ']' || count < 1 || count > (is_star ? 1 : (size_t)member->most))
        return later_fail(err, LATER_E_DATA,
                          "%s: must be a list of 1 to %.0f steps, or [\"*\"] for all jobs",
                          member->name, member->most);
    *(const char **)field_of(doc, member) = value->value;
    return 0;
}

static int read_fate(struct later_document *doc, const struct member *member,
                     const struct later_json_member *value, struct later_error *err)
{
    static const char *const words[] = { "\"done\"", "\"ended\"", "\"failed\"" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);

        if (value->len == len && memcmp(value->value, words[i], len) == 0) {
            memcpy(field_of(doc, member), words[i] + 1, len - 2);
            doc->when[len - 2] = '\0';
            return 0;
        }
    }
    return later_fail(err, LATER_E_DATA, "%s: must be done, ended or failed", member->name);
}

/* ---- numbers; none is NaN or infinite */

static bool document_is_number(const char *value)
{
    return *value == '-' || (*value >= '0' && *value <= '9');
}

static int document_read_number(const struct later_json_member *value, double *to,
                                struct later_error *err)
{
    if (!document_is_number(value->value))
        return later_fail(err, LATER_E_DATA, "%s: must be a number", value->name);
    *to = later_json_double(value->value);
    return 0;
}

/* 5.0 counts as 5, since a double does not tell how it was written. */
static int read_whole(struct later_document *doc, const struct member *member,
                      const struct later_json_member *value, struct later_error *err)
{
    double number = 0;

    if (document_read_number(value, &number, err) < 0)
        return -1;
    if (number < member->least || number > member->most || number != floor(number))
        return later_fail(err, LATER_E_DATA, "%s: must be an integer from %.0f to %.0f",
                          member->name, member->least, member->most);
    *(int32_t *)field_of(doc, member) = (int32_t)number;
    return 0;
}

/* 0 or more, but for a span above 0. */
static int document_read_seconds(struct later_document *doc, const struct member *member,
                                 const struct later_json_member *value, struct later_error *err)
{
    double *to = field_of(doc, member);

    if (document_read_number(value, to, err) < 0)
        return -1;
    if ((*to > 0 || (*to == 0 && !member->is_span)) && *to <= member->most)
        return 0;
    return later_fail(err, LATER_E_DATA, "%s: must be %s %.0f seconds", member->name,
                      member->is_span ? "above 0 and at most" : "from 0 to", member->most);
}

/* In how to push a job, 0 means that no time is given. */
static int document_read_time(struct later_document *doc, const struct member *member,
                              const struct later_json_member *value, struct later_error *err)
{
    double *to = field_of(doc, member);

    if (document_read_number(value, to, err) < 0)
        return -1;
    if (member->of_line && *to == 0)
        return 0;
    return later_option_check_time(member->name, *to, member->most, err);
}

static int read_flag(struct later_document *doc, const struct member *member,
                     const struct later_json_member *value, struct later_error *err)
{
    bool *to = field_of(doc, member);

    *to = value->len == 4 && memcmp(value->value, "true", 4) == 0;
    if (*to || (value->len == 5 && memcmp(value->value, "false", 5) == 0))
        return 0;
    return later_fail(err, LATER_E_DATA, "%s: must be true or false", member->name);
}

/* ---- backoff */

/* Reads seconds of a backoff: 0 or more. More than LATER_DELAY_MAX is cut when it is used. */
static int read_wait(const char *name, const char *value, double *to, struct later_error *err)
{
    const struct later_json_member number = { .name = name, .value = value };

    if (document_read_number(&number, to, err) < 0)
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

/* clang-format off */
static const struct {
    const char *name, *path;
    size_t at;
} backoff_members[] = {
    /* @options member: { "{name}", "backoff.{name}", offsetof(struct later_backoff, {name}) }, */
    { "base", "backoff.base", offsetof(struct later_backoff, base) },
    { "max", "backoff.max", offsetof(struct later_backoff, max) },
    /* @end */
};
static const char backoff_names[] =
    /* @options member: " {name}," */
    " base,"
    " max,"
    /* @end */
    "";
/* clang-format on */

enum { BACKOFF_MEMBERS = sizeof backoff_members / sizeof *backoff_members };

static int read_backoff_object(struct later_backoff *backoff,
                               const struct later_json_member *object, struct later_error *err)
{
    struct later_json_member parts[BACKOFF_MEMBERS + 1] = { 0 }; /* the last one: any other */
    bool some = false;

    for (int i = 0; i < BACKOFF_MEMBERS; i++)
        parts[i].name = backoff_members[i].name;
    if (later_json_scan(object->value, object->len, parts, BACKOFF_MEMBERS + 1, err) < 0)
        return -1;
    for (int i = 0; i < BACKOFF_MEMBERS; i++)
        some = some || parts[i].value;
    if (!some || parts[BACKOFF_MEMBERS].value)
        return later_fail(err, LATER_E_DATA,
                          "backoff: an object takes%s and has one of them at least", backoff_names);
    for (int i = 0; i < BACKOFF_MEMBERS; i++) {
        double *to = (void *)((char *)backoff + backoff_members[i].at);

        if (parts[i].value && read_wait(backoff_members[i].path, parts[i].value, to, err) < 0)
            return -1;
    }
    return 0;
}

/* A plain number means that many seconds each time. */
static int read_waits(struct later_document *doc, const struct member *member,
                      const struct later_json_member *value, struct later_error *err)
{
    struct later_backoff *backoff = field_of(doc, member);

    doc->has_backoff = true;
    if (value->value[0] == '[')
        return read_backoff_list(backoff, value->value, err);
    if (value->value[0] == '{')
        return read_backoff_object(backoff, value, err);
    if (!document_is_number(value->value))
        return later_fail(err, LATER_E_DATA, "backoff: must be a number, a list or an object");
    backoff->list_count = 1;
    return read_wait("backoff", value->value, &backoff->list[0], err);
}

/* ---- which is which */

static int document_take_payload(struct later_document *doc, const struct member *member,
                                 const struct later_json_member *value, struct later_error *err)
{
    (void)member;
    (void)err;
    doc->payload = value->value;
    doc->payload_len = value->len;
    return 0;
}

/* What a line of a file must not have: then it comes from `later peek --json`, and its job would be
 * pushed without its payload, or at the wrong time. */
#define REFUSED(why) .refused = why "; `later export` writes lines that can be pushed"

#define AS(reader, member, least_, most_)                                                          \
    .read = reader, .at = offsetof(struct later_document, member), .least = least_, .most = most_
#define FORM(member, least, most, fits_, form_)                                                    \
    AS(read_form, member, least, most), .fits = fits_, .form = form_
#define WORD(member, least, most)                                                                  \
    FORM(member, least, most, is_word, "be printable ASCII without space")
#define NAME(member, least, most)                                                                  \
    FORM(member, least, most, later_key_name_valid,                                                \
         "printable ASCII characters without space or brace"),                                     \
        .counted = true
#define LABEL(member, least, most)                                                                 \
    FORM(member, least, most, later_key_queue_valid, "letters, digits and _ . -"), .counted = true
#define TYPE(member, least, most)                                                                  \
    FORM(member, least, most, later_document_is_type, "consist of letters, digits and _ . : -")
#define HOOK(member, least, most)                                                                  \
    FORM(member, least, most, later_document_is_hook,                                              \
         "be a type (letters, digits and _ . : -), or TYPE@QUEUE")
#define TEXT(member, least, most)  AS(document_read_line, member, least, most)
#define WHOLE(member, least, most) AS(read_whole, member, least, most)
/* No count is beyond an int32_t. */
#define COUNT(member, least, most)   AS(read_whole, member, least, most)
#define SECONDS(member, least, most) AS(document_read_seconds, member, least, most)
#define SPAN(member, least, most)    SECONDS(member, least, most), .is_span = true
#define TIME(member, least, most)    AS(document_read_time, member, least, most)
#define WAITS(member, least, most)   AS(read_waits, member, least, most)
#define FLAG(member, least, most)    AS(read_flag, member, least, most)
#define STEPS(member, least, most)   AS(read_steps, member, least, most)
#define FATE(member, least, most)    AS(read_fate, member, least, most)

static const struct member members[] = {
    { "type", false, TYPE(type, 1, LATER_TYPE_MAX) },
    { "payload", false, .read = document_take_payload },
    /* @options document: { "{name}", false, {KIND}({name}, {least}, {most}) }, */
    { "id", false, WORD(id, 1, 200) },
    { "priority", false, WHOLE(priority, -100, 100) },
    { "max_attempts", false, COUNT(max_attempts, 1, 1000000) },
    { "retry_for", false, SPAN(retry_for, 0, 315360000) },
    { "timeout", false, SPAN(timeout, 0, 604800) },
    { "backoff", false, WAITS(backoff, 0, 1e300) },
    { "expires_at", false, TIME(expires_at, 1e9, 1e300) },
    { "result", false, SPAN(result, 0, 315360000) },
    { "lock", false, NAME(lock, 1, 200) },
    { "group", false, NAME(group, 1, 64) },
    { "trace", false, TEXT(trace, 0, 256) },
    { "description", false, TEXT(description, 0, 200) },
    { "on_dead", false, HOOK(on_dead, 1, 193) },
    { "on_done", false, HOOK(on_done, 1, 193) },
    { "flow", false, LABEL(flow, 1, 64) },
    { "step", false, LABEL(step, 1, 64) },
    { "after", false, STEPS(after, 1, 100) },
    { "when", false, FATE(when, 1, 6) },
    /* @end */
    { "hook_of", false, WORD(hook_of, 1, LATER_ID_MAX) },
    { "queue", true, LABEL(queue, 1, LATER_QUEUE_MAX) },
    /* @options line: { "{name}", true, {KIND}({name}, {least}, {most}) }, */
    { "in", true, SECONDS(in, 0, 315360000) },
    { "at", true, TIME(at, 1e9, 1e11) },
    { "expires_in", true, SPAN(expires_in, 0, 315360000) },
    { "unique_for", true, SECONDS(unique_for, 0, 1000000000) },
    { "again", true, FLAG(again, 0, 1) },
    { "debounce", true, SECONDS(debounce, 0, 315360000) },
    { "max_wait", true, SPAN(max_wait, 0, 315360000) },
    { "throttle", true, SPAN(throttle, 0, 1000000000) },
    /* @end */
    { "document", true, REFUSED("document: not for a job document") },
    { "document_base64", true, REFUSED("document: not for a job document") },
    { "state", true, REFUSED("state: would be lost") },
};

#define MEMBERS (sizeof members / sizeof *members)

static int document_read_member(const struct member *member, struct later_document *doc,
                                const struct later_json_member *value, struct later_error *err)
{
    if (member->refused)
        return later_fail(err, LATER_E_DATA, "%s", member->refused);
    /* The last push of a debounced job is to run, whatever `again` says. */
    if (member->at == offsetof(struct later_document, debounce))
        doc->again = true;
    return member->read(doc, member, value, err);
}

int later_document_member(struct later_document *doc, const struct later_json_member *value,
                          struct later_error *err)
{
    size_t i = 0;

    while (strcmp(members[i].name, value->name) != 0)
        i++;
    return document_read_member(&members[i], doc, value, err);
}

static int read_members(struct later_document *doc, enum later_document_use use, const char *bytes,
                        size_t len, struct later_error *err)
{
    struct later_json_member found[MEMBERS] LATER_UNCLEARED; /* len is read only where value is */
    size_t count = 0;

    for (; count < MEMBERS && (use == LATER_DOCUMENT_LINE || !members[count].of_line); count++)
        found[count].name = members[count].name;
    if (later_json_scan(bytes, len, found, count, err) < 0)
        return -1;
    if (bytes[strspn(bytes, " \n\t\r")] != '{') /* there is something other than white space */
        return later_fail(err, LATER_E_DATA, "not an object");
    for (size_t i = 0; i < count; i++) {
        if (found[i].value && document_read_member(&members[i], doc, &found[i], err) < 0)
            return -1;
    }
    return 0;
}

/* A text is empty once its first byte is 0. To clear all of them would cost more than to parse a
 * short document. */
#define CLEAR(field)                                                                               \
    memset(&doc->field, 0, sizeof doc->field > sizeof(double) ? 1 : sizeof doc->field)

static void document_clear(struct later_document *doc)
{
    CLEAR(type);
    CLEAR(hook_of);
    CLEAR(queue);
    /* @options document,line: CLEAR({name}); */
    CLEAR(id);
    CLEAR(priority);
    CLEAR(in);
    CLEAR(at);
    CLEAR(max_attempts);
    CLEAR(retry_for);
    CLEAR(timeout);
    CLEAR(backoff);
    CLEAR(expires_at);
    CLEAR(expires_in);
    CLEAR(result);
    CLEAR(lock);
    CLEAR(group);
    CLEAR(trace);
    CLEAR(description);
    CLEAR(on_dead);
    CLEAR(on_done);
    CLEAR(flow);
    CLEAR(step);
    CLEAR(after);
    CLEAR(when);
    CLEAR(unique_for);
    CLEAR(again);
    CLEAR(debounce);
    CLEAR(max_wait);
    CLEAR(throttle);
    /* @end */
    doc->has_backoff = false;
    doc->backoff.base = doc->backoff.max = doc->backoff.jitter = -1;
    doc->backoff.list_count = 0;
    doc->payload = "null";
    doc->payload_len = strlen(doc->payload);
}

int later_document_parse(struct later_document *doc, enum later_document_use use, const char *bytes,
                         size_t len, size_t max, struct later_error *err)
{
    document_clear(doc);
    if (len == 0)
        return later_fail(err, LATER_E_DATA, "no document");
    if (len > max)
        return later_fail(err, LATER_E_DATA,
                          "too large: %zu bytes, %zu allowed" LATER_DOCUMENT_REMEDY, len, max);
    if (read_members(doc, use, bytes, len, err) < 0)
        return -1;
    if (!doc->type[0])
        return later_fail(err, LATER_E_DATA, "no type");
    return 0;
}
