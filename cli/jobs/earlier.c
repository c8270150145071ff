/* earlier.c: the earlier failures of a job, and what it has logged. */
#include "jobs/peek.h"

#include "cli.h"
#include "text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A failure without a reason had the same reason as the one after it. */
static void complete(json_t *errors, const json_t *last)
{
    static const char *const same[] = { "kind", "text", "host" };
    const json_t *after = last;
    json_t *error;
    size_t i;

    json_array_foreach(errors, i, error)
    {
        bool says = json_object_get(error, "kind") != NULL;

        for (size_t m = 0; m < 3 && !says; m++)
            json_object_set(error, same[m], json_object_get(after, same[m]));
        after = error;
    }
}

/* Returns NULL if there are none, or if what is kept is not of our form. */
static json_t *earlier_read_all(const struct later_seen *seen)
{
    json_t *errors = json_loadb(seen->record.earlier, seen->record.earlier_len, 0, NULL);
    json_t *last = json_loadb(seen->record.error, seen->record.error_len, 0, NULL);

    if (json_is_array(errors)) {
        complete(errors, last);
    } else {
        json_decref(errors);
        errors = NULL;
    }
    json_decref(last);
    return errors;
}

void earlier_json(struct jsonl *json, const struct later_seen *seen)
{
    json_t *errors = earlier_read_all(seen);
    /* 16 digits show a present time to the microsecond, and no digit beyond what is known */
    char *text = errors ? json_dumps(errors, JSON_COMPACT | JSON_REAL_PRECISION(16)) : NULL;

    if (text)
        jsonl_raw(json, "earlier", text);
    free(text);
    json_decref(errors);
}

static void earlier_add_row(struct table *card, const json_t *error)
{
    json_int_t attempt = json_integer_value(json_object_get(error, "attempt"));
    char when[48];

    text_put_time(when, sizeof when, text_number_member(error, "at"));
    table_print(card, DIM, "attempt %" JSON_INTEGER_FORMAT, attempt);
    table_print(card, RED, "%s, %s: %s", when, text_member(error, "kind"),
                text_member(error, "text"));
}

void earlier_rows(struct table *card, const struct later_seen *seen)
{
    json_t *errors = earlier_read_all(seen), *error;
    size_t i;

    json_array_foreach(errors, i, error)
    {
        earlier_add_row(card, error);
    }
    json_decref(errors);
}

/* --- what it has logged --- */

static void earlier_add_line(struct table *card, const json_t *line)
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

void earlier_log_rows(struct table *card, const struct later_seen *seen)
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
        earlier_add_line(card, line);
    }
    json_decref(log);
}
