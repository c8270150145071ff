/* troubles.c: what is wrong now. */
#include "live/troubles.h"

#include "base/clock.h"
#include "tasks/lines_json.h"

#include <stdlib.h>

#define PATIENCE 15.0 /* seconds */
#define AGAIN    2.0  /* seconds until it is asked once more, if something was done */
#define TIMES    4.0  /* as long as an answer takes, the next question waits */
#define SOME     1    /* the status that says that there are troubles */

struct troubles {
    struct serve *serve;
    troubles_fn *fn;
    void *arg;
    struct serve_answer also; /* whoever gets each answer, too; zeroed = nobody */
    struct lines_json list;
    double asked, known; /* times; 0 = never. known: of the question that was answered */
    double took;         /* seconds that the last answer took */
    unsigned long looks; /* answers that have come */
    bool hurry;
    char away[SERVE_WORDS]; /* JSON string: why the last question failed; "" = it did not */
};

static void troubles_take_line(void *arg, const char *line, size_t len)
{
    struct troubles *troubles = arg;

    lines_json_add(&troubles->list, line, len);
    if (troubles->also.line)
        troubles->also.line(troubles->also.arg, line, len);
}

bool troubles_are_known(int status)
{
    return status == LATER_OK || status == SOME;
}

static void troubles_take_end(void *arg, int status, const char *rest)
{
    struct troubles *troubles = arg;

    lines_json_end(&troubles->list, troubles_are_known(status));
    troubles->took = later_clock() - troubles->asked;
    if (troubles->also.end)
        troubles->also.end(troubles->also.arg, status, rest);
    if (troubles_are_known(status)) {
        troubles->known = troubles->asked;
        troubles->looks++;
        troubles->away[0] = '\0';
    } else {
        serve_words(rest, troubles->away);
    }
    troubles->fn(troubles->arg);
}

void troubles_look(struct troubles *troubles, double within)
{
    struct order order = { .words = { "status", "--trouble", "--json", "--lately" },
                           .count = 4,
                           .patience = PATIENCE };
    struct serve_answer answer = { .line = troubles_take_line,
                                   .end = troubles_take_end,
                                   .arg = troubles };
    double now = later_clock(), wait = TIMES * troubles->took;

    if (!serve_is_free(troubles->serve))
        return;
    if (troubles->hurry && within > AGAIN)
        within = AGAIN;
    if (troubles->asked > 0 && now - troubles->asked < (wait > within ? wait : within))
        return;
    troubles->hurry = false;
    troubles->asked = now;
    lines_json_begin(&troubles->list);
    serve_order(troubles->serve, &order, &answer);
}

bool troubles_asks(const struct troubles *troubles)
{
    return !serve_is_free(troubles->serve);
}

void troubles_tell(struct troubles *troubles, const struct serve_answer *also)
{
    troubles->also = *also;
}

void troubles_hurry(struct troubles *troubles)
{
    troubles->hurry = true;
}

void troubles_write(const struct troubles *troubles, FILE *out)
{
    bool known = troubles->known > 0;

    fprintf(out, "{\"known\":%s,\"look\":%lu,\"age\":%.1f,\"away\":%s,\"list\":[%s]}",
            known ? "true" : "false", troubles->looks,
            known ? later_clock() - troubles->known : 0.0,
            troubles->away[0] ? troubles->away : "\"\"", lines_json_text(&troubles->list));
}

struct troubles *troubles_new(struct event_base *base, const struct serve_program *program,
                              troubles_fn *fn, void *arg)
{
    struct troubles *troubles = calloc(1, sizeof *troubles);

    if (troubles) {
        *troubles = (struct troubles){ .serve = serve_new(base, program), .fn = fn, .arg = arg };
        if (troubles->serve)
            return troubles;
    }
    troubles_free(troubles);
    return NULL;
}

void troubles_free(struct troubles *troubles)
{
    if (!troubles)
        return;
    serve_free(troubles->serve);
    lines_json_free(&troubles->list);
    free(troubles);
}
