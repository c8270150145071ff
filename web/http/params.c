/* params.c: the parameters of a request. */
#include "http/params.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void params_free(struct params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        free(params->all[i].name);
        free(params->all[i].value);
    }
    *params = (struct params){ 0 };
}

/* Takes over both strings, which were malloc'ed. If one is NULL, this fails. */
static int params_add(struct params *params, char *name, char *value)
{
    if (!name || !value || params->count == PARAMS_MAX) {
        free(name);
        free(value);
        return -1;
    }
    params->all[params->count].name = name;
    params->all[params->count++].value = value;
    return 0;
}

const char *params_nth(const struct params *params, const char *name, size_t n)
{
    for (size_t i = 0; i < params->count; i++) {
        if (strcmp(params->all[i].name, name) == 0 && n-- == 0)
            return params->all[i].value;
    }
    return NULL;
}

const char *params_get(const struct params *params, const char *name)
{
    return params_nth(params, name, 0);
}

/* --- query --- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Turns "a%20b" or "a+b" into "a b". Returns NULL for a bad escape, a NUL, or no memory. */
static char *params_decode(const char *text, size_t len)
{
    char *out = malloc(len + 1), *to = out;

    for (size_t i = 0; out && i < len; i++) {
        int high = text[i] == '%' && i + 2 < len ? digit(text[i + 1]) : -1;
        int low = high >= 0 ? digit(text[i + 2]) : -1;

        if (text[i] == '%' && (low < 0 || high + low == 0)) {
            free(out);
            return NULL;
        }
        *to++ = text[i] == '%' ? (char)(16 * high + low) : text[i] == '+' ? ' ' : text[i];
        i += text[i] == '%' ? 2 : 0;
    }
    if (out)
        *to = '\0';
    return out;
}

int params_query(struct params *params, const char *query)
{
    *params = (struct params){ 0 };
    while (*query) {
        size_t len = strcspn(query, "&"), name = strcspn(query, "=&");
        size_t from = name < len ? name + 1 : len;

        if (len > 0 && params_add(params, params_decode(query, name),
                                  params_decode(query + from, len - from)) < 0) {
            params_free(params);
            return -1;
        }
        query += len;
        query += *query == '&';
    }
    return 0;
}

/* --- body --- */

static char *params_text_of(const json_t *value)
{
    char *text = NULL;

    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_integer(value) &&
        asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value)) < 0)
        return NULL;
    return text;
}

int params_body(struct params *params, const char *bytes, size_t len)
{
    json_t *object = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, NULL), *value;
    int ok = json_is_object(object) ? 0 : -1;
    const char *name;

    *params = (struct params){ 0 };
    json_object_foreach(object, name, value)
    {
        size_t count = json_is_array(value) ? json_array_size(value) : 1;

        for (size_t i = 0; ok == 0 && i < count; i++)
            ok =
                params_add(params, strdup(name),
                           params_text_of(json_is_array(value) ? json_array_get(value, i) : value));
    }
    json_decref(object);
    if (ok < 0)
        params_free(params);
    return ok;
}
