/* document.c: reading a job document. */
#include "job/document.h"

#include "job/document_json.h"
#include "job/document_member.h"

#include <jansson.h>
#include <string.h>

static int read_members(struct later_document *doc, enum later_document_use use, json_t *root,
                        struct later_error *err)
{
    const char *name;
    json_t *value;

    json_object_foreach(root, name, value)
    {
        if (later_document_member(doc, use, name, value, err) < 0)
            return -1;
    }
    if (!doc->type[0])
        return later_fail(err, LATER_E_DATA, "no type");
    if (doc->in >= 0 && doc->at >= 0)
        return later_fail(err, LATER_E_DATA, "in and at: must not both be there");
    return 0;
}

int later_document_parse(struct later_document *doc, enum later_document_use use, const char *bytes,
                         size_t len, size_t max, struct later_error *err)
{
    json_t *root;
    int result;

    memset(doc, 0, sizeof *doc);
    doc->in = doc->at = -1;
    doc->backoff.base = doc->backoff.max = doc->backoff.jitter = -1;
    doc->payload = "null";
    doc->payload_len = strlen(doc->payload);
    if (len == 0)
        return later_fail(err, LATER_E_DATA, "no document");
    if (len > max)
        return later_fail(err, LATER_E_DATA, "too large: %zu bytes, %zu allowed", len, max);
    root = later_document_json(bytes, len, err);
    if (!root)
        return -1;
    if (json_is_object(root))
        result = read_members(doc, use, root, err);
    else
        result = later_fail(err, LATER_E_DATA, "not an object");
    if (result == 0)
        later_document_find(bytes, len, "payload", &doc->payload, &doc->payload_len);
    json_decref(root);
    return result;
}
