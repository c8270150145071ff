/* json_judge.c: compares lib/job/json with jansson. */
#include "json_judge.h"

#include "job/json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS   (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY)
#define MEMBERS 8 /* members looked for at once */

static size_t max_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t depth_of(const json_t *value)
{
    size_t most = 0, i;
    const char *name;
    json_t *inner;

    if (json_is_array(value)) {
        json_array_foreach(value, i, inner) most = max_of(most, depth_of(inner));
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, name, inner) most = max_of(most, depth_of(inner));
    } else {
        return 0;
    }
    return most + 1;
}

/* What we promise, checked with jansson: it misses NUL bytes, and allows deeper nesting. */
static json_t *judged(const char *bytes, size_t len)
{
    json_t *root = memchr(bytes, '\0', len) ? NULL : json_loadb(bytes, len, FLAGS, NULL);
    size_t brackets = 0;

    for (size_t i = 0; i < len; i++)
        brackets += bytes[i] == '[' || bytes[i] == '{';
    if (root && brackets > LATER_JSON_DEPTH && depth_of(root) > LATER_JSON_DEPTH) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static bool same_text(const struct later_json_member *found, const json_t *wanted)
{
    size_t len = json_string_length(wanted);
    char *text = malloc(found->len);
    bool same = text && later_json_text(found->value, found->len, text, found->len) == len &&
                memcmp(text, json_string_value(wanted), len) == 0;

    free(text);
    return same;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Is the member that was found the one that jansson sees? */
static const char *compare(const struct later_json_member *found, const json_t *wanted,
                           const char *bytes, size_t len)
{
    json_t *value;
    bool same;

    if (!found->value)
        return "a member is not found";
    if (found->value < bytes || found->len == 0 || found->value + found->len > bytes + len)
        return "a member lies outside";
    if (is_space(found->value[0]) || is_space(found->value[found->len - 1]))
        return "a member has white space around it";
    value = json_loadb(found->value, found->len, FLAGS, NULL);
    same = json_equal(value, wanted);
    json_decref(value);
    if (!same)
        return "a member has another value";
    if (json_is_string(wanted) && !same_text(found, wanted))
        return "a string is decoded to another text";
    if (json_is_real(wanted) && (later_json_double(found->value) < json_real_value(wanted) ||
                                 later_json_double(found->value) > json_real_value(wanted)))
        return "a number is read as another one";
    return NULL;
}

/* Looks for the first members by their names. */
static const char *compare_members(const char *bytes, size_t len, json_t *root)
{
    struct later_json_member found[MEMBERS + 2] = { { .name = "no such" }, { .name = NULL } };
    struct later_error err;
    const char *differs = NULL, *name;
    size_t count = 2;
    json_t *value;
    bool others;

    json_object_foreach(root, name, value)
    {
        if (count < MEMBERS + 2 && !strchr(name, '\\') && strcmp(name, "no such") != 0)
            found[count++].name = name;
    }
    if (later_json_scan(bytes, len, found, count, &err) < 0)
        return "refused at the second time";
    for (size_t i = 2; !differs && i < count; i++)
        differs = compare(&found[i], json_object_get(root, found[i].name), bytes, len);
    others = json_object_size(root) > count - 2 + (found[0].value != NULL);
    if (!differs && (found[0].value != NULL) != (json_object_get(root, "no such") != NULL))
        differs = "a member is found that is not there";
    if (!differs && (found[1].value != NULL) != others)
        differs = "other members are found that are not there, or are overlooked";
    return differs;
}

const char *json_judge(const char *bytes, size_t len, bool *taken)
{
    struct later_error err = { LATER_OK, "" };
    json_t *root = judged(bytes, len);
    int all = later_json_scan(bytes, len, NULL, 0, &err);
    const char *differs = NULL;

    *taken = root != NULL;
    if (!root && all >= 0)
        differs = "taken, but refused by jansson";
    else if (root && all < 0)
        differs = err.text[0] ? "refused, but taken by jansson" : "refused without words";
    else if (!root && (err.code != LATER_E_DATA || !err.text[0]))
        differs = "a refusal without its reason";
    else if (root)
        differs = compare_members(bytes, len, root);
    json_decref(root);
    return differs;
}
