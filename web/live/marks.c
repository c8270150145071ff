/* marks.c: what happened besides jobs in the last minutes. */
#include "live/marks.h"

#define EACH     10.0         /* seconds between two questions */
#define PATIENCE 5            /* seconds */
#define SINCE    "--since=3m" /* readers' curves are shorter */

bool marks_are_due(const struct marks *marks, double now)
{
    return marks->asked == 0 || now - marks->asked >= EACH;
}

static void marks_take_line(void *arg, const char *line, size_t len)
{
    lines_json_add(&((struct marks *)arg)->list, line, len);
}

static void marks_take_end(void *arg, int status, const char *rest)
{
    struct marks *marks = arg;

    (void)rest;
    marks->news |= lines_json_end(&marks->list, status == LATER_OK);
    marks->fn(marks->arg, status == LATER_OK);
}

void marks_ask(struct marks *marks, struct serve *serve, double now, marks_fn *fn, void *arg)
{
    struct order order = { .words = { "history", "--json", "--marks", SINCE },
                           .count = 4,
                           .patience = PATIENCE };
    struct serve_answer answer = { .line = marks_take_line, .end = marks_take_end, .arg = marks };

    marks->asked = now;
    marks->fn = fn;
    marks->arg = arg;
    lines_json_begin(&marks->list);
    serve_order(serve, &order, &answer);
}

void marks_hurry(struct marks *marks)
{
    marks->asked = 0;
}

void marks_write(const struct marks *marks, FILE *out)
{
    fprintf(out, "\"marks\":[%s],", lines_json_text(&marks->list));
}

void marks_free(struct marks *marks)
{
    lines_json_free(&marks->list);
}
