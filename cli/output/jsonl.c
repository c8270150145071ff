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

/* name: NULL in a list. */
static void jsonl_put_name(struct jsonl *json, const char *name)
{
    if (json->more)
        putc(',', json->out);
    json->more = true;
    if (!name)
        return;
    putc('"', json->out);
    fputs(name, json->out);
    fputs("\":", json->out);
}

void jsonl_open(struct jsonl *json, const char *name, char bracket)
{
    jsonl_put_name(json, name);
    putc(bracket, json->out);
    json->more = false;
}

void jsonl_close(struct jsonl *json, char bracket)
{
    putc(bracket, json->out);
    json->more = true;
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
    if (isinf(number))
        jsonl_text(json, name, text); /* JSON has no infinity */
    else
        jsonl_raw(json, name, isnan(number) ? "null" : text);
}

/* Writes the member of this conversion, whose last letter is `kind`. */
static void jsonl_convert(struct jsonl *json, const char *name, bool wide, char kind, va_list *args)
{
    if (kind == 's')
        jsonl_text(json, name, va_arg(*args, const char *));
    else if (kind == 'f')
        jsonl_real(json, name, va_arg(*args, double));
    else if (kind == 'c')
        jsonl_raw(json, name, va_arg(*args, int) ? "true" : "false");
    else if (wide)
        jsonl_int(json, name, va_arg(*args, intmax_t));
    else if (kind == 'u')
        jsonl_int(json, name, va_arg(*args, unsigned));
    else
        jsonl_int(json, name, va_arg(*args, int));
}

static void jsonl_add_all(struct jsonl *json, const char *format, va_list *args)
{
    char name[48];

    for (const char *at = format; *at; at += *at == ' ') {
        size_t colon = strcspn(at, ":"), len = colon < sizeof name ? colon : sizeof name - 1;

        memcpy(name, at, len);
        name[len] = '\0';
        at += colon + 1;
        len = strcspn(at, " ");
        if (*at == '%')
            jsonl_convert(json, name, at[1] == 'j', at[len - 1], args);
        else
            jsonl_bytes(json, name, at, len);
        at += len;
    }
}

void jsonl_add(struct jsonl *json, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    jsonl_add_all(json, format, &args);
    va_end(args);
}

void jsonl_line(FILE *out, const char *format, ...)
{
    struct jsonl json;
    va_list args;

    jsonl_begin(&json, out);
    va_start(args, format);
    jsonl_add_all(&json, format, &args);
    va_end(args);
    jsonl_end(&json);
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

char *jsonl_written(FILE *out, char **text)
{
    if (fclose(out) == 0)
        return *text;
    free(*text);
    return NULL;
}
