/* said.c: what programs have said of their types. */
#include "worker/said.h"

#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX  1000
#define SAID_JSON 4096 /* bytes; a list of waits has 32 numbers */

struct said_type {
    char name[LATER_TYPE_MAX + 1];
    struct later_document doc;
};

struct said {
    size_t count;
    struct said_type *types; /* owned */
};

struct said *said_new(void)
{
    return calloc(1, sizeof(struct said));
}

void said_free(struct said *said)
{
    if (!said)
        return;
    free(said->types);
    free(said);
}

/* Returns the row of this name, which may be new; NULL with *err. */
static struct said_type *said_row(struct said *said, const char *name, struct later_error *err)
{
    struct said_type *types;

    for (size_t i = 0; i < said->count; i++) {
        if (strcmp(said->types[i].name, name) == 0)
            return &said->types[i];
    }
    if (said->count == SAID_MAX) {
        later_fail(err, LATER_E_LATER, "programs have said something of %d types", SAID_MAX);
        return NULL;
    }
    types = realloc(said->types, (said->count + 1) * sizeof *types);
    if (!types) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    said->types = types;
    return &types[said->count++];
}

/* A document checks kinds and ranges, so it is made one: {"type":NAME, and the members. A star is
 * not part of a type. */
int said_take(struct said *said, const char *name, const char *json, size_t len,
              struct later_error *err)
{
    char text[SAID_JSON];
    struct later_document doc;
    struct said_type *type;
    int made;

    if (len < 2 || *json != '{')
        return later_fail(err, LATER_E_DATA, "it is no object");
    if (name[strcspn(name, "*")] && name[strcspn(name, "*") + 1])
        return later_fail(err, LATER_E_DATA, "a star ends a name");
    made = snprintf(text, sizeof text, "{\"type\":\"%.*s\"%s%.*s", (int)strcspn(name, "*"), name,
                    json[1 + strspn(json + 1, " ")] == '}' ? "" : ",", (int)(len - 1), json + 1);
    if (made < 0 || (size_t)made >= sizeof text)
        return later_fail(err, LATER_E_DATA, "longer than %d bytes", SAID_JSON);
    if (later_document_parse(&doc, LATER_DOCUMENT_JOB, text, (size_t)made, sizeof text, err) < 0)
        return -1;
    type = said_row(said, name, err);
    if (!type)
        return -1;
    snprintf(type->name, sizeof type->name, "%s", name);
    type->doc = doc;
    type->doc.timeout = 0; /* it is needed before the program is there */
    type->doc.payload = NULL;
    type->doc.payload_len = 0;
    return 0;
}

const struct later_document *said_find(const struct said *said, const char *type)
{
    const struct later_document *found = NULL;
    size_t best = 0;

    for (size_t i = 0; said && i < said->count; i++) {
        size_t matches = config_type_matches(said->types[i].name, type);

        if (matches > best) {
            best = matches;
            found = &said->types[i].doc;
        }
    }
    return found;
}
