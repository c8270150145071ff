/* fuzz_document.c: any bytes as JSON, compared with jansson; as a job document, as a payload, and
 * as text to quote. */
#include "fuzz.h"

#include "job/document.h"
#include "later/client.h"
#include "tests/support/json_judge.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY)
#define MAX   65536

/* What is accepted must be an object to jansson, with the same payload. */
static void check_taken(const struct later_document *doc, const char *bytes, size_t len)
{
    json_t *root = json_loadb(bytes, len, FLAGS, NULL);
    json_t *wanted = json_object_get(root, "payload");
    json_t *payload = json_loadb(doc->payload, doc->payload_len, FLAGS, NULL);

    must(json_is_object(root), "only objects are taken");
    must(payload != NULL, "a payload is JSON");
    must(wanted ? json_equal(wanted, payload) : json_is_null(payload), "it is the payload");
    must(!wanted || (doc->payload >= bytes && doc->payload + doc->payload_len <= bytes + len),
         "a payload is within the document");
    must(strlen(doc->type) > 0, "there is a type");
    must(doc->priority >= -LATER_PRIORITY_MAX && doc->priority <= LATER_PRIORITY_MAX, "priority");
    must(doc->backoff.list_count <= LATER_BACKOFF_LIST_MAX, "backoff");
    must(later_backoff_delay(&doc->backoff, 3, 12345) <= LATER_DELAY_MAX, "delay");
    json_decref(payload);
    json_decref(root);
}

static void parse(enum later_document_use use, const char *bytes, size_t len)
{
    struct later_document doc;
    struct later_error err = { LATER_OK, "" };

    if (later_document_parse(&doc, use, bytes, len, MAX, &err) == 0)
        check_taken(&doc, bytes, len);
    else
        must(err.code == LATER_E_DATA && err.text[0], "a refusal has its reason");
}

/* A document around these bytes as payload: built only if they are one JSON value. */
static void build(const char *bytes, size_t len, bool text)
{
    struct later_new_job job = { .type = "t", .id = "i", .text = text };
    struct later_document doc;
    struct later_error err;
    size_t built_len;
    char *built;

    job.payload = len ? bytes : ""; /* of length 0: a C string */
    job.payload_len = len;
    built = later_document_build(&job, MAX, &built_len, &err);
    if (!built)
        return;
    must(later_document_parse(&doc, LATER_DOCUMENT_JOB, built, built_len, MAX, &err) == 0,
         "what was built can be parsed");
    must(strcmp(doc.type, "t") == 0 && strcmp(doc.id, "i") == 0, "nothing is smuggled in");
    check_taken(&doc, built, built_len);
    if (!text) {
        json_t *alone = json_loadb(bytes, len, FLAGS, NULL);

        must(alone != NULL, "a payload is JSON alone");
        json_decref(alone);
    }
    free(built);
}

static void quote(const char *bytes, size_t len)
{
    char *quoted = later_document_quote(bytes, len);
    json_t *value = quoted ? json_loadb(quoted, strlen(quoted), FLAGS, NULL) : NULL;

    must(json_is_string(value), "what was quoted is a JSON string");
    json_decref(value);
    free(quoted);
}

/* Ours and jansson's verdict, and the members that both see, are the same. */
static void judge(const char *bytes, size_t len)
{
    bool taken;
    const char *differs = json_judge(bytes, len, &taken);

    must(!differs, differs ? differs : "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1); /* exactly as long, for the sanitizer */

    must(bytes != NULL, "there is memory");
    if (size)
        memcpy(bytes, data, size);
    judge(bytes, size);
    parse(LATER_DOCUMENT_JOB, bytes, size);
    parse(LATER_DOCUMENT_LINE, bytes, size);
    build(bytes, size, false);
    build(bytes, size, true);
    quote(bytes, size);
    free(bytes);
    return 0;
}
