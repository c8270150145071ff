/* document_bucket.c: the value of a payload's member, short enough for the name of a key. */
#include "job/document.h"

#include "base/digest.h"
#include "job/document_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* May these bytes stand in a name as they are? */
static bool plain(const char *text, size_t len)
{
    if (len > 64 || text[0] == '~')
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '{' || text[i] == '}')
            return false;
    }
    return true;
}

static void put(const char *text, size_t len, char bucket[LATER_BUCKET_MAX + 1])
{
    if (plain(text, len)) {
        memcpy(bucket, text, len);
        bucket[len] = '\0';
    } else {
        bucket[0] = '~';
        later_digest(text, len, bucket + 1);
    }
}

void later_document_bucket(const struct later_document *doc, const char *member,
                           char bucket[LATER_BUCKET_MAX + 1])
{
    struct later_error ignored;
    const char *bytes;
    char number[32];
    json_t *value;
    size_t len;

    bucket[0] = '\0';
    if (doc->payload_len == 0 || doc->payload[0] != '{' ||
        !later_document_find(doc->payload, doc->payload_len, member, &bytes, &len))
        return;
    if (bytes[0] != '"' && bytes[0] != '-' && (bytes[0] < '0' || bytes[0] > '9'))
        return;
    value = later_document_json(bytes, len, &ignored);
    if (json_is_string(value)) {
        put(json_string_value(value), json_string_length(value), bucket);
    } else if (json_is_number(value)) {
        snprintf(number, sizeof number, "%.15g", json_number_value(value) + 0.0);
        if (strtod(number, NULL) != json_number_value(value))
            snprintf(number, sizeof number, "%.17g", json_number_value(value));
        put(number, strlen(number), bucket);
    }
    json_decref(value);
}
