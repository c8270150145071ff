/* document_build.c: makes a job document from its parts. */
#include "job/document.h"

#include "job/document_text.h"
#include "job/json.h"
#include "job/option.h"
#include "later/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow. Without memory it keeps what it has, and reports that at the end. */
struct draft {
    char *bytes;
    size_t len, room;
    bool failed;
};

/* Makes room for `more` bytes and a NUL; false without memory. */
static bool document_build_reserve(struct draft *draft, size_t more)
{
    size_t room = draft->room + draft->len + more + 1; /* at least doubles what is used */
    char *bytes;

    if (draft->failed || more < draft->room - draft->len)
        return !draft->failed;
    bytes = more < SIZE_MAX / 4 ? realloc(draft->bytes, room) : NULL;
    if (!bytes) {
        draft->failed = true;
        return false;
    }
    draft->bytes = bytes;
    draft->room = room;
    return true;
}

static void document_build_add(struct draft *draft, const char *bytes, size_t len)
{
    if (!document_build_reserve(draft, len))
        return;
    memcpy(draft->bytes + draft->len, bytes, len);
    draft->len += len;
}

/* Adds `"name":`, with what comes before it. */
static void document_build_add_name(struct draft *draft, const char *name)
{
    document_build_add(draft, draft->len ? ",\"" : "{\"", 2);
    document_build_add(draft, name, strlen(name));
    document_build_add(draft, "\":", 2);
}

static int add_string(struct draft *draft, const char *name, const char *text, size_t len,
                      struct later_error *err)
{
    size_t bad = 0;

    document_build_add_name(draft, name);
    if (len < SIZE_MAX / 8 && document_build_reserve(draft, LATER_STRING_ROOM(len)))
        draft->len += later_document_string(draft->bytes + draft->len, text, len, &bad);
    else
        draft->failed = true;
    return bad ? later_fail(err, LATER_E_DATA, "%s: bad UTF-8 at byte %zu", name, bad) : 0;
}

/* Adds a number, but nothing for 0, which means that it is not set. */
static int add_number(struct draft *draft, const char *name, double number, struct later_error *err)
{
    char text[LATER_NUMBER_SIZE];

    if (!isfinite(number))
        return later_fail(err, LATER_E_DATA, "%s: must be a number", name);
    if (number != 0) {
        document_build_add_name(draft, name);
        document_build_add(draft, text, later_document_number(text, number));
    }
    return 0;
}

/* Are these bytes one JSON value and nothing else? */
static int check_json(const char *name, const char *bytes, size_t len, struct later_error *err)
{
    struct later_error why;

    if (later_json_scan(bytes, len, NULL, 0, &why) < 0)
        return later_fail(err, why.code, "%s: %s", name, why.text);
    return 0;
}

static int add_waits(struct draft *draft, const char *name, const char *json,
                     struct later_error *err)
{
    if (check_json(name, json, strlen(json), err) < 0)
        return -1;
    document_build_add_name(draft, name);
    document_build_add(draft, json, strlen(json));
    return 0;
}

/* Adds a list of names that have commas between. */
static int add_steps(struct draft *draft, const char *name, const char *text,
                     struct later_error *err)
{
    if (text[strcspn(text, "\"\\")])
        return later_fail(err, LATER_E_DATA, "%s: must be names with commas between, or *", name);
    document_build_add_name(draft, name);
    document_build_add(draft, "[", 1);
    for (bool more = true; more; text++) {
        size_t len = strcspn(text, ",");

        document_build_add(draft, "\"", 1);
        document_build_add(draft, text, len);
        text += len;
        more = *text != '\0';
        document_build_add(draft, more ? "\"," : "\"]", 2);
    }
    return 0;
}

/* Adds a member if it is set. */
static int add_option(struct draft *draft, const struct later_option *option,
                      const struct later_new_job *job, struct later_error *err)
{
    const void *from = (const char *)job + option->in_job;
    const char *text;

    switch (option->kind) {
    case LATER_OPTION_WHOLE:
        return add_number(draft, option->name, *(const int32_t *)from, err);
    case LATER_OPTION_COUNT:
        return add_number(draft, option->name, *(const uint32_t *)from, err);
    case LATER_OPTION_SECONDS:
    case LATER_OPTION_SPAN:
    case LATER_OPTION_TIME:
        return add_number(draft, option->name, *(const double *)from, err);
    default:
        break;
    }
    text = *(const char *const *)from;
    if (!text)
        return 0;
    if (option->kind == LATER_OPTION_STEPS)
        return add_steps(draft, option->name, text, err);
    if (option->kind == LATER_OPTION_WAITS)
        return add_waits(draft, option->name, text, err);
    return add_string(draft, option->name, text, strlen(text), err);
}

static int document_build_add_members(struct draft *draft, const struct later_new_job *job,
                                      struct later_error *err)
{
    if (job->type && add_string(draft, "type", job->type, strlen(job->type), err) < 0)
        return -1;
    for (size_t i = 0; later_options[i].of_document; i++) {
        if (add_option(draft, &later_options[i], job, err) < 0)
            return -1;
    }
    if (job->payload && job->text)
        return add_string(draft, "payload", job->payload, job->payload_len, err);
    if (job->payload) {
        document_build_add_name(draft, "payload");
        document_build_add(draft, job->payload, job->payload_len);
    }
    return 0;
}

/* Was the given payload read as the payload, all of it and no more? If only white space is missing
 * it was, and then it is JSON. */
static bool is_given_payload(const struct later_document *doc, const struct later_new_job *job)
{
    const char *given = job->payload;
    size_t len = job->payload_len;

    for (; len > 0 && later_json_is_space(given[0]); len--)
        given++;
    while (len > 0 && later_json_is_space(given[len - 1]))
        len--;
    return len == doc->payload_len && memcmp(given, doc->payload, len) == 0;
}

static int check_size(const struct later_new_job *job, const char *what, size_t len, size_t max,
                      struct later_error *err)
{
    if (len <= max)
        return 0;
    return later_fail(err, LATER_E_DATA,
                      "too large: %s: a %s of %zu bytes, %zu allowed" LATER_DOCUMENT_REMEDY,
                      job->type ? job->type : "no type", what, len, max);
}

static int check_draft(const struct draft *draft, const struct later_new_job *job, size_t max,
                       struct later_error *err)
{
    struct later_document doc;
    int result = later_document_parse(&doc, LATER_DOCUMENT_JOB, draft->bytes, draft->len, max, err);

    if (!job->payload || job->text || (result == 0 && is_given_payload(&doc, job)))
        return result;
    /* If the payload is at fault, say so. It is parsed alone only now, since it is rarely at fault.
     */
    if (check_json("payload", job->payload, job->payload_len, err) < 0)
        return -1;
    return result;
}

char *later_document_build(const struct later_new_job *job, size_t max, size_t *len,
                           struct later_error *err)
{
    struct later_new_job whole = *job;
    struct draft draft = { 0 };

    if (job->payload && !job->payload_len)
        whole.payload_len = strlen(job->payload);
    if (check_size(job, "payload", whole.payload_len, max, err) < 0)
        return NULL;
    document_build_reserve(&draft, 256 + whole.payload_len);
    if (document_build_add_members(&draft, &whole, err) < 0)
        goto fail;
    document_build_add(&draft, draft.len ? "}" : "{}", draft.len ? 1 : 2);
    if (draft.failed) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        goto fail;
    }
    if (check_size(job, "document", draft.len, max, err) < 0 ||
        check_draft(&draft, &whole, max, err) < 0)
        goto fail;
    draft.bytes[draft.len] = '\0';
    *len = draft.len;
    return draft.bytes;
fail:
    free(draft.bytes);
    return NULL;
}
