/* jsonl.c: one JSON object a line. */
#include "output/jsonl.h"

#include "job/document_text.h"
#include "text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void jsonl_begin(struct jsonl *json, FILE *out)
{
    *json = (struct jsonl){ .out = out };
    putc('{', out);
}

void jsonl_end(struct jsonl *json)
{
    fputs("}\n", json->out);
}

void jsonl_string(FILE *out, const char *bytes, size_t len)
{
    char *text = malloc(LATER_STRING_ROOM(len));

    if (text)
        fwrite(text, 1, later_document_string(text, bytes, len, NULL), out);
    else
        fputs("null", out); /* out of memory; the line must still be JSON */
    free(text);
}

static void jsonl_put_name(struct jsonl *json, const char *name)
{
    if (json->more)
        putc(',', json->out);
    json->more = true;
    fprintf(json->out, "\"%s\":", name);
}

void jsonl_bytes(struct jsonl *json, const char *name, const char *bytes, size_t len)
{
    jsonl_put_name(json, name);
    jsonl_string(json->out, bytes, len);
}

void jsonl_text(struct jsonl *json, const char *name, const char *text)
{
    if (text)
        jsonl_bytes(json, name, text, strlen(text));
    else
        jsonl_raw(json, name, "null");
}

void jsonl_int(struct jsonl *json, const char *name, int64_t number)
{
    jsonl_put_name(json, name);
    fprintf(json->out, "%" PRId64, number);
}

void jsonl_real(struct jsonl *json, const char *name, double number)
{
    char text[48];

    text_put_real(text, sizeof text, number);
    if (isfinite(number))
        jsonl_raw(json, name, text);
    else
        jsonl_text(json, name, text); /* JSON has no infinity and no NaN */
}

void jsonl_known(struct jsonl *json, const char *name, bool known, double number)
{
    if (known)
        jsonl_real(json, name, number);
    else
        jsonl_raw(json, name, "null");
}

void jsonl_bool(struct jsonl *json, const char *name, bool yes)
{
    jsonl_raw(json, name, yes ? "true" : "false");
}

void jsonl_texts(struct jsonl *json, const char *name, const char *const *words, size_t count)
{
    jsonl_put_name(json, name);
    jsonl_list(json->out, words, count);
}

void jsonl_raw(struct jsonl *json, const char *name, const char *value)
{
    jsonl_put_name(json, name);
    fputs(value, json->out);
}

void jsonl_foreign(struct jsonl *json, const char *name, const char *bytes, size_t len)
{
    json_t *value = json_loadb(bytes, len, JSON_DECODE_ANY, NULL);
    char *line =
        value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(16)) : NULL;

    if (line)
        jsonl_raw(json, name, line);
    else
        jsonl_bytes(json, name, bytes, len);
    free(line);
    json_decref(value);
}

void jsonl_list(FILE *out, const char *const *words, size_t count)
{
    putc('[', out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putc(',', out);
        jsonl_string(out, words[i], strlen(words[i]));
    }
    putc(']', out);
}
