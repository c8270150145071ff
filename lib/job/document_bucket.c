/* document_bucket.c: the value of a payload's member, short enough for the name of a key. */
#include "job/document.h"

#include "base/digest.h"
#include "job/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* May these bytes be in a name as they are? */
static bool plain(const char *text, size_t len)
{
    if (len > 64 || (len > 0 && text[0] == '~'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '{' || text[i] == '}')
            return false;
    }
    return true;
}

static void document_bucket_put(const char *text, size_t len, char bucket[LATER_BUCKET_MAX + 1])
{
    if (plain(text, len)) {
        memcpy(bucket, text, len);
        bucket[len] = '\0';
    } else {
        bucket[0] = '~';
        later_digest(text, len, bucket + 1);
    }
}

static void document_bucket_put_string(const struct later_json_member *value,
                                       char bucket[LATER_BUCKET_MAX + 1])
{
    char *text = malloc(value->len);

    if (text)
        document_bucket_put(text, later_json_text(value->value, value->len, text, value->len),
                            bucket);
    free(text);
}

static void document_bucket_put_number(double value, char bucket[LATER_BUCKET_MAX + 1])
{
    char number[32];

    snprintf(number, sizeof number, "%.15g", value);
    if (strtod(number, NULL) != value)
        snprintf(number, sizeof number, "%.17g", value);
    document_bucket_put(number, strlen(number), bucket);
}

void later_document_bucket(const struct later_document *doc, const char *member,
                           char bucket[LATER_BUCKET_MAX + 1])
{
    struct later_json_member found = { .name = member };
    struct later_error ignored;

    bucket[0] = '\0';
    if (doc->payload[0] != '{' ||
        later_json_scan(doc->payload, doc->payload_len, &found, 1, &ignored) < 0 || !found.value)
        return;
    if (found.value[0] == '"')
        document_bucket_put_string(&found, bucket);
    else if (found.value[0] == '-' || (found.value[0] >= '0' && found.value[0] <= '9'))
        document_bucket_put_number(later_json_double(found.value) + 0.0, bucket); /* no -0 */
}
