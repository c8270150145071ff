/* document.c: reading a job document. */
#include "job/document.h"

#include "job/document_member.h"

#include <string.h>

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
    if (later_document_members(doc, use, bytes, len, err) < 0)
        return -1;
    if (!doc->type[0])
        return later_fail(err, LATER_E_DATA, "no type");
    return 0;
}
