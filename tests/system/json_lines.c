/*
 * json_lines.c: is every line of standard input one JSON object, and nothing else?
 *
 *     json_lines [MEMBER...]
 *
 * For each object that has all of these members, prints their values in one line, separated by
 * tabs. Exit status: 0; or 1 with the first line that is not an object.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const json_t *line, char *const *members)
{
    for (char *const *member = members; *member; member++) {
        if (!json_object_get(line, *member))
            return;
    }
    for (char *const *member = members; *member; member++) {
        if (member > members)
            putchar('\t');
        json_dumpf(json_object_get(line, *member), stdout, JSON_ENCODE_ANY);
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t len;

    while ((len = getline(&text, &room, stdin)) > 0) {
        json_error_t error;
        json_t *line = json_loadb(text, (size_t)len, JSON_REJECT_DUPLICATES, &error);

        if (!json_is_object(line)) {
            fprintf(stderr, "no JSON object (%s): %s", error.text, text);
            return 1;
        }
        if (argc > 1)
            print(line, argv + 1);
        json_decref(line);
    }
    free(text);
    return 0;
}
