/* poller.c: what runs, what waits and which hosts there are. */
#include "live/poller.h"

#include "base/clock.h"
#include "tasks/lines_json.h"
#include "live/marks.h"
#include "live/snapshot.h"
#include "live/troubles.h"
#include "output/jsonl.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOKING         10.0 /* seconds after a look for which questions go on */
#define BEAT            1.0  /* seconds between two questions */
#define FRESH           2.0  /* seconds for which an answer counts as new */
#define TOGETHER        9    /* queues per question */
#define NAMES           5.0  /* seconds between two lists of all queues, */
#define NAMES_MORE      1000 /* plus as many for each thousand queues */
#define TROUBLES_QUEUES 10.0 /* queues for which the age of troubles may be a second more, */
#define TROUBLES_MANY   60.0 /* up to so many */
#define LATE_AFTER      3.0  /* seconds without an answer after which readers are told */

struct poller {
    struct serve *serve;
    struct event *timer;
    poller_fn *fn;
    void *arg;
    struct snapshot *snapshot;
    struct troubles *troubles;
    struct marks marks;
    struct lines_json hosts;
    bool hosts_are_new;     /* they changed since readers were told */
    bool troubles_are_new;  /* they were asked for since readers were told */
    bool lists;             /* the present answer lists all queues */
    double known;           /* when the known state was asked for; 0 = never */
    double named;           /* when all queues were last listed; 0 = never, or too long ago */
    double asked, looked;   /* times; 0 = never */
    bool ended;             /* the last question was answered */
    char away[SERVE_WORDS]; /* JSON string: why the last question failed */
};

/* --- the question --- */

static char *write_text(const struct poller *poller, bool whole, size_t *len)
{
    bool late = !poller->ended && poller->asked > 0 && later_clock() - poller->asked > LATE_AFTER;
    double now = later_clock();
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out)
        return NULL;
    fprintf(out, "{\"whole\":%s,\"known\":%s,\"age\":%.1f,\"away\":%s,", whole ? "true" : "false",
            poller->known > 0 ? "true" : "false", poller->known > 0 ? now - poller->known : 0.0,
            poller->away[0] ? poller->away
            : late          ? "\"Redis does not answer\""
                            : "\"\"");
    if (whole || poller->hosts_are_new)
        fprintf(out, "\"hosts\":[%s],", lines_json_text(&poller->hosts));
    if (whole || poller->troubles_are_new) {
        fputs("\"troubles\":", out);
        troubles_write(poller->troubles, out);
        putc(',', out);
    }
    if (whole || poller->marks.news)
        marks_write(&poller->marks, out);
    snapshot_write(poller->snapshot, out, whole, now);
    putc('}', out);
    return jsonl_written(out, &text);
}

char *poller_text(const struct poller *poller, size_t *len)
{
    return write_text(poller, true, len);
}

static void poller_tell(struct poller *poller, bool asked)
{
    size_t len;
    char *text = write_text(poller, false, &len);

    if (!text)
        return;
    poller->fn(poller->arg, text, len, asked);
    free(text);
    poller->hosts_are_new = poller->troubles_are_new = poller->marks.news = false;
    snapshot_told(poller->snapshot);
}

/* A queue's line begins with its name. All other lines describe daemons. */
static void poller_take_line(void *arg, const char *line, size_t len)
{
    struct poller *poller = arg;

    if (!snapshot_see(poller->snapshot, line, len, later_clock()))
        lines_json_add(&poller->hosts, line, len);
}

/* A queue that was asked about may have been forgotten meanwhile, which is no failure. */
static void poller_take_end(void *arg, int status, const char *rest)
{
    struct poller *poller = arg;
    bool well = status == LATER_OK || status == LATER_E_NONE;

    poller->hosts_are_new |= lines_json_end(&poller->hosts, well);
    poller->ended = true;
    if (well) {
        if (poller->lists)
            snapshot_listed(poller->snapshot);
        if (poller->lists)
            poller->named = poller->asked;
        poller->known = poller->asked;
        poller->away[0] = '\0';
    } else {
        serve_words(rest, poller->away);
    }
    poller_tell(poller, true);
}

/* A question begins, whose answer is waited for before the next one. */
static void poller_begin(struct poller *poller)
{
    poller->asked = later_clock();
    poller->ended = false;
}

/* Asks about the queues whose turn it is, or about all if they are not known. */
static void poller_ask(struct poller *poller)
{
    struct order order = { .words = { "status", "--json", "--lately", "--" },
                           .count = 3,
                           .patience = 5 };
    struct serve_answer answer = { .line = poller_take_line,
                                   .end = poller_take_end,
                                   .arg = poller };
    double now = later_clock();

    poller->lists = poller->named == 0 || snapshot_count(poller->snapshot) == 0;
    if (poller->lists)
        snapshot_list(poller->snapshot);
    else
        order.count = 4 + snapshot_due(poller->snapshot, now, order.words + 4, TOGETHER);
    lines_json_begin(&poller->hosts);
    poller_begin(poller);
    serve_order(poller->serve, &order, &answer);
}

/* Asks about queues after another question. If that had no answer, this fails too, and reports why;
 * until then it stays late. */
static void poller_go_on(struct poller *poller, bool answered)
{
    double asked = poller->asked;

    poller_ask(poller);
    if (!answered)
        poller->asked = asked;
}

static void poller_take_name(void *arg, const char *line, size_t len)
{
    struct poller *poller = arg;

    snapshot_name(poller->snapshot, line, len);
}

static void take_names(void *arg, int status, const char *rest)
{
    struct poller *poller = arg;

    (void)rest;
    if (status == LATER_OK) {
        snapshot_listed(poller->snapshot);
        poller->named = poller->asked;
    }
    poller_go_on(poller, status == LATER_OK);
}

static void ask_names(struct poller *poller)
{
    struct order order = { .words = { "size", "--names" }, .count = 2, .patience = 5 };
    struct serve_answer answer = { .line = poller_take_name, .end = take_names, .arg = poller };

    snapshot_list(poller->snapshot);
    poller_begin(poller);
    serve_order(poller->serve, &order, &answer);
}

static bool wants_names(const struct poller *poller, double now)
{
    double many = 1.0 + (double)(snapshot_count(poller->snapshot) / NAMES_MORE);

    return poller->named > 0 && now - poller->named >= NAMES * many;
}

/* With many queues the question for troubles costs Redis more than the numbers do. */
static double trouble_age(const struct poller *poller)
{
    double many = (double)snapshot_count(poller->snapshot) / TROUBLES_QUEUES;

    return many < TROUBLES_SOON ? TROUBLES_SOON : many < TROUBLES_MANY ? many : TROUBLES_MANY;
}

static void take_marks(void *arg, bool answered)
{
    poller_go_on(arg, answered);
}

static void ask_marks(struct poller *poller)
{
    poller_begin(poller);
    marks_ask(&poller->marks, poller->serve, poller->asked, take_marks, poller);
}

static void poller_take_troubles(void *arg)
{
    struct poller *poller = arg;

    poller->troubles_are_new = true;
    poller_tell(poller, false);
}

void poller_tell_troubles(struct poller *poller, const struct serve_answer *also)
{
    troubles_tell(poller->troubles, also);
}

bool poller_look_troubles(struct poller *poller, double within)
{
    troubles_look(poller->troubles, within);
    return !troubles_asks(poller->troubles);
}

char *poller_troubles(const struct poller *poller, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out)
        return NULL;
    troubles_write(poller->troubles, out);
    return jsonl_written(out, &text);
}

/* Called every half second. */
static void look_at_clock(evutil_socket_t fd, short what, void *arg)
{
    struct poller *poller = arg;
    double now = later_clock();

    (void)fd;
    (void)what;
    if (now - poller->looked > LOOKING) {
        event_del(poller->timer);
        poller->named = 0; /* the next reader gets new numbers of all queues */
        return;
    }
    troubles_look(poller->troubles, trouble_age(poller));
    if (!serve_is_free(poller->serve)) {
        if (now - poller->asked > LATE_AFTER)
            poller_tell(poller, true);
    } else if (now - poller->asked >= BEAT - 0.25) {
        if (wants_names(poller, now))
            ask_names(poller);
        else if (poller->named > 0 && marks_are_due(&poller->marks, now))
            ask_marks(poller);
        else
            poller_ask(poller);
    }
}

bool poller_is_fresh(const struct poller *poller)
{
    return poller->known > 0 && !poller->away[0] && later_clock() - poller->known < FRESH;
}

void poller_hurry(struct poller *poller, const char *queue)
{
    snapshot_hurry(poller->snapshot, queue);
    troubles_hurry(poller->troubles);
    marks_hurry(&poller->marks);
}

void poller_look(struct poller *poller)
{
    struct timeval half = { .tv_usec = 500000 };

    poller->looked = later_clock();
    if (event_pending(poller->timer, EV_TIMEOUT, NULL))
        return;
    event_add(poller->timer, &half);
    look_at_clock(-1, 0, poller);
}

struct poller *poller_new(struct event_base *base, const struct serve_program *program,
                          poller_fn *fn, void *arg, struct later_error *err)
{
    struct poller *poller = calloc(1, sizeof *poller);

    if (poller) {
        *poller = (struct poller){
            .serve = serve_new(base, program), .snapshot = snapshot_new(), .fn = fn, .arg = arg
        };
        poller->troubles = troubles_new(base, program, poller_take_troubles, poller);
        poller->timer = event_new(base, -1, EV_PERSIST, look_at_clock, poller);
        if (poller->serve && poller->snapshot && poller->troubles && poller->timer)
            return poller;
    }
    poller_free(poller);
    later_fail(err, LATER_E_SYSTEM, "no memory");
    return NULL;
}

void poller_free(struct poller *poller)
{
    if (!poller)
        return;
    serve_free(poller->serve);
    troubles_free(poller->troubles);
    if (poller->timer)
        event_free(poller->timer);
    snapshot_free(poller->snapshot);
    lines_json_free(&poller->hosts);
    marks_free(&poller->marks);
    free(poller);
}
