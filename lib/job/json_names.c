/* json_names.c: are all names of an object different? */
#include "job/json_inner.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define SORT_FROM 32 /* fewer names are compared pair by pair */

void later_json_names_init(struct later_json_names *names, const char *end)
{
    names->end = end;
    names->list = names->own;
    names->count = 0;
    names->room = LATER_JSON_NAMES;
}

void later_json_names_free(struct later_json_names *names)
{
    if (names->list != names->own)
        free(names->list);
}

static bool json_names_grow(struct later_json_names *names)
{
    struct later_json_name *own = names->list == names->own ? NULL : names->list;
    struct later_json_name *list = realloc(own, 2 * names->room * sizeof *list);

    if (!list)
        return false;
    if (!own)
        memcpy(list, names->own, sizeof names->own);
    names->list = list;
    names->room *= 2;
    return true;
}

/* A shorter name is filled up with 0 bytes, which no name has. */
static uint64_t json_names_key_of(const struct later_json_name *name, const char *end)
{
    const char *at = name->text;
    char bytes[8 + 4] = "";
    size_t len = name->len < 8 ? name->len : 8, more;
    uint64_t key;

    if (name->escaped) {
        for (end = at + name->len, len = 0; len < 8 && at < end; len += more)
            at = later_json_next(at, bytes + len, &more);
        at = bytes;
    } else if (end - at < 8) {
        at = memcpy(bytes, at, len);
    }
    memcpy(&key, at, sizeof key);
    key = be64toh(key);
    return len < 8 ? key & ~(UINT64_MAX >> 8 * len) : key;
}

bool later_json_names_add(struct later_json_names *names, const char *text, size_t len,
                          bool escaped)
{
    struct later_json_name *name;

    if (names->count == names->room && !json_names_grow(names))
        return false;
    name = &names->list[names->count++];
    *name = (struct later_json_name){ .text = text, .len = (uint32_t)len, .escaped = escaped };
    name->key = json_names_key_of(name, names->end);
    return true;
}

/* The rest of a name, and of a character of it that was decoded. */
struct rest {
    const char *at, *end;
    char decoded[4];
    size_t from, to;
};

/* Returns its next byte; -1 at the end. */
static int next_byte(struct rest *rest)
{
    if (rest->from == rest->to) {
        if (rest->at == rest->end)
            return -1;
        if (*rest->at != '\\')
            return (unsigned char)*rest->at++;
        rest->at = later_json_next(rest->at, rest->decoded, &rest->to);
        rest->from = 0;
    }
    return (unsigned char)rest->decoded[rest->from++];
}

/* The order of names in UTF-8 is that of their bytes. */
static int compare_decoded(const struct later_json_name *one, const struct later_json_name *other)
{
    struct rest a = { .at = one->text, .end = one->text + one->len };
    struct rest b = { .at = other->text, .end = other->text + other->len };
    int left, right;

    do {
        left = next_byte(&a);
        right = next_byte(&b);
    } while (left == right && left >= 0);
    return left - right;
}

static int json_names_compare(const void *a, const void *b)
{
    const struct later_json_name *one = a, *other = b;
    int order;

    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->escaped || other->escaped)
        return compare_decoded(one, other);
    order = memcmp(one->text, other->text, one->len < other->len ? one->len : other->len);
    return order ? order : (one->len > other->len) - (one->len < other->len);
}

static const struct later_json_name *later_one(const struct later_json_name *one,
                                               const struct later_json_name *other)
{
    return one->text > other->text ? one : other;
}

/* One bit of 64 for each name nearly always shows that a few names differ. */
static bool differ(const struct later_json_name *list, size_t count)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t bit = (uint64_t)1 << (list[i].key * 0x9E3779B97F4A7C15U >> 58); /* Fibonacci's */

        if (seen & bit)
            return false;
        seen |= bit;
    }
    return true;
}

static const struct later_json_name *among_few(const struct later_json_name *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (list[k].key == list[i].key && json_names_compare(&list[k], &list[i]) == 0)
                return &list[i];
        }
    }
    return NULL;
}

const struct later_json_name *later_json_names_close(struct later_json_names *names, size_t from)
{
    struct later_json_name *list = names->list + from;
    size_t count = names->count - from;

    names->count = from;
    if (count < SORT_FROM)
        return differ(list, count) ? NULL : among_few(list, count);
    qsort(list, count, sizeof *list, json_names_compare);
    for (size_t i = 1; i < count; i++) {
        if (json_names_compare(&list[i - 1], &list[i]) == 0)
            return later_one(&list[i - 1], &list[i]);
    }
    return NULL;
}

bool later_json_named(const struct later_json_name *name, const char *plain)
{
    const struct later_json_name other = { .text = plain, .len = (uint32_t)strlen(plain) };

    return name->escaped ? compare_decoded(name, &other) == 0
                         : name->len == other.len && memcmp(name->text, plain, name->len) == 0;
}
