/* logged.c: what a job has logged. */
#include "jobs/logged.h"

#include "text.h"

#include <jansson.h>
#include <string.h>

static void logged_add_row(struct table *card, const json_t *line)
{
    const char *level = text_member(line, "level");
    json_int_t attempt = json_integer_value(json_object_get(line, "attempt"));
    char when[48];

    text_put_time(when, sizeof when, text_number_member(line, "at"));
    table_text(card, DIM, "log");
    table_print(card, strcmp(level, "error") == 0 ? RED : PLAIN,
                "%s, attempt %" JSON_INTEGER_FORMAT ", %s: %s", when, attempt, level,
                text_member(line, "text"));
}

void logged_rows(struct table *card, const struct later_seen *seen)
{
    json_t *log = json_loadb(seen->record.log, seen->record.log_len, 0, NULL), *line;
    json_int_t dropped = json_integer_value(json_object_get(log, "dropped"));
    size_t i;

    if (dropped > 0) {
        table_text(card, DIM, "log");
        table_print(card, DIM, "%" JSON_INTEGER_FORMAT " earlier lines are not kept", dropped);
    }
    json_array_foreach(json_object_get(log, "lines"), i, line)
    {
        logged_add_row(card, line);
    }
    json_decref(log);
}
