/* exec_members.c: finds the members of an answer in its line. */
#include "exec_members.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[EXEC_MEMBERS] = {
    /* @answers member: [EXEC_{UPPER}] = "{name}", */
    [EXEC_ID] = "id",
    [EXEC_RESULT] = "result",
    [EXEC_ERROR] = "error",
    [EXEC_IN] = "in",
    [EXEC_VALUE] = "value",
    [EXEC_LAST] = "last",
    [EXEC_DONE] = "done",
    [EXEC_LOG] = "log",
    [EXEC_TEXT] = "text",
    [EXEC_PROGRESS] = "progress",
    [EXEC_CHECKPOINT] = "checkpoint",
    [EXEC_HELLO] = "hello",
    [EXEC_STOPPING] = "stopping",
    [EXEC_TYPES] = "types",
    /* @end */
};

static const char *exec_members_skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* These return what follows, or NULL if it does not end. */

static const char *exec_members_skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        if (*at == '\\')
            at++;
        if (!*at)
            return NULL;
    }
    return at + 1;
}

static const char *skip_nested(const char *at)
{
    size_t depth = 0;

    do {
        at += strcspn(at, "\"[]{}");
        if (!*at)
            return NULL;
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at = *at == '"' ? exec_members_skip_string(at) : at + 1;
    } while (at && depth > 0);
    return at;
}

static const char *skip_value(const char *at)
{
    size_t len = strcspn(at, ",]} \t\r\n\"[{:");

    if (*at == '"')
        return exec_members_skip_string(at);
    if (*at == '{' || *at == '[')
        return skip_nested(at);
    return len > 0 && at[len] ? at + len : NULL;
}

static size_t exec_members_index_of(const char *name, size_t len)
{
    size_t i = 0;

    while (i < EXEC_MEMBERS && (strlen(names[i]) != len || memcmp(names[i], name, len) != 0))
        i++;
    return i;
}

/* Reads `"name": value` and returns what follows, or NULL at a fault. */
static const char *exec_members_read_member(struct exec_members *members, bool seen[EXEC_MEMBERS],
                                            const char *at)
{
    const char *name = at, *end = *at == '"' ? exec_members_skip_string(at) : NULL;
    size_t which;

    if (!end || *(at = exec_members_skip_space(end)) != ':')
        return NULL;
    which = exec_members_index_of(name + 1, (size_t)(end - name) - 2);
    at = exec_members_skip_space(at + 1);
    end = skip_value(at);
    if (which == EXEC_MEMBERS)
        return end;
    if (seen[which]) {
        members->fault = "that has a member twice";
        members->of[which].bytes = NULL;
    } else if (end) {
        members->of[which].bytes = at;
        members->of[which].len = (size_t)(end - at);
    }
    seen[which] = true;
    return end;
}

void exec_members_read(struct exec_members *members, const char *line)
{
    bool seen[EXEC_MEMBERS] = { false };
    const char *at = exec_members_skip_space(line), *end;

    *members = (struct exec_members){ .fault = NULL };
    if (*at != '{') {
        end = *at ? skip_value(at) : NULL;
        members->fault = end && !*exec_members_skip_space(end) ? "that is not a JSON object"
                                                               : "that is not JSON";
        return;
    }
    at = exec_members_skip_space(at + 1);
    while (at && *at != '}') {
        at = exec_members_read_member(members, seen, at);
        at = at ? exec_members_skip_space(at) : NULL;
        if (at && *at == ',')
            at = *(end = exec_members_skip_space(at + 1)) == '}' ? NULL : end;
        else if (at && *at != '}')
            at = NULL;
    }
    if (!at || *exec_members_skip_space(at + 1))
        members->fault = "that is not JSON";
}

bool exec_members_is_true(const struct exec_members *members, enum exec_member which)
{
    return members->of[which].bytes && *members->of[which].bytes == 't';
}

json_t *exec_members_json(const struct exec_members *members, enum exec_member which)
{
    if (!members->of[which].bytes)
        return NULL;
    return json_loadb(members->of[which].bytes, members->of[which].len,
                      JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
}

char *exec_members_text(const struct exec_members *members, enum exec_member which)
{
    const char *bytes = members->of[which].bytes;
    size_t len = members->of[which].len;
    json_t *string = NULL;
    char *text;

    if (!bytes || *bytes != '"')
        return NULL;
    if (memchr(bytes, '\\', len)) /* else it is as it stands */
        string = exec_members_json(members, which);
    bytes = string ? json_string_value(string) : bytes + 1;
    len = string ? json_string_length(string) : len - 2;
    text = malloc(len + 1);
    for (size_t i = 0; text && i < len; i++)
        text[i] = bytes[i] ? bytes[i] : '?';
    if (text)
        text[len] = '\0';
    json_decref(string);
    return text;
}
