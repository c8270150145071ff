/* pulse.c: what runs, what waits and which hosts there are. */
#include "pulse.h"

#include "base/clock.h"
#include "board.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKING    10.0 /* seconds after a look for which questions go on */
#define BEAT       1.0  /* seconds between two questions */
#define FRESH      2.0  /* seconds for which an answer counts as new */
#define TOGETHER   13   /* queues per question; the question itself takes two more commands */
#define NAMES      5.0  /* seconds between two lists of all queues, */
#define NAMES_MORE 1000 /* plus as many for each thousand queues */
#define LATE_AFTER 3.0  /* seconds without an answer after which readers are told */

/* Lines that become the elements of a JSON list. */
struct lines {
    char *text; /* owned; with a comma before each line */
    size_t len, count;
    FILE *out; /* while lines are being added */
};

struct pulse {
    struct desk *desk;
    struct event *timer;
    pulse_fn *fn;
    void *arg;
    struct board *board;
    struct lines hosts, new_hosts; /* the known ones, and those of the answer that is coming */
    bool hosts_are_new;            /* they changed since readers were told */
    bool lists;                    /* the present answer lists all queues */
    double known;                  /* when the known state was asked for; 0 = never */
    double named;         /* when all queues were last listed; 0 = never, or too long ago */
    double asked, looked; /* times; 0 = never */
    bool ended;           /* the last question was answered */
    char away[600];       /* JSON string: why the last question failed */
};

/* --- lines --- */

static void begin_lines(struct lines *lines)
{
    *lines = (struct lines){ 0 };
    lines->out = open_memstream(&lines->text, &lines->len);
}

static void add_line(struct lines *lines, const char *line, size_t len)
{
    if (!lines->out)
        return;
    putc(lines->count++ ? ',' : ' ', lines->out);
    fwrite(line, 1, len, lines->out);
}

static void end_lines(struct lines *lines)
{
    if (lines->out)
        fclose(lines->out);
    lines->out = NULL;
}

static void free_lines(struct lines *lines)
{
    end_lines(lines);
    free(lines->text);
    *lines = (struct lines){ 0 };
}

/* --- the question --- */

static char *write_text(const struct pulse *pulse, bool whole, size_t *len)
{
    bool late = !pulse->ended && pulse->asked > 0 && later_clock() - pulse->asked > LATE_AFTER;
    double now = later_clock();
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out)
        return NULL;
    fprintf(out, "{\"whole\":%s,\"known\":%s,\"age\":%.1f,\"away\":%s,", whole ? "true" : "false",
            pulse->known > 0 ? "true" : "false", pulse->known > 0 ? now - pulse->known : 0.0,
            pulse->away[0] ? pulse->away
            : late         ? "\"Redis does not answer\""
                           : "\"\"");
    if (whole || pulse->hosts_are_new)
        fprintf(out, "\"hosts\":[%s],", pulse->hosts.text ? pulse->hosts.text : "");
    board_write(pulse->board, out, whole, now);
    putc('}', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *pulse_text(const struct pulse *pulse, size_t *len)
{
    return write_text(pulse, true, len);
}

static void tell(struct pulse *pulse)
{
    size_t len;
    char *text = write_text(pulse, false, &len);

    if (!text)
        return;
    pulse->fn(pulse->arg, text, len);
    free(text);
    pulse->hosts_are_new = false;
    board_told(pulse->board);
}

/* A queue's line begins with its name. All other lines describe daemons. */
static void take_line(void *arg, const char *line, size_t len)
{
    struct pulse *pulse = arg;

    if (!board_see(pulse->board, line, len, later_clock()))
        add_line(&pulse->new_hosts, line, len);
}

/* `rest` is "status":69,"words":"…"}. Its last string is kept as it is. */
static void keep_words(struct pulse *pulse, const char *rest)
{
    const char *words = strstr(rest, "\"words\":");
    int len = words ? (int)strlen(words + 8) - 1 : 0;

    if (len >= 2 && len < (int)sizeof pulse->away)
        snprintf(pulse->away, sizeof pulse->away, "%.*s", len, words + 8);
    else
        snprintf(pulse->away, sizeof pulse->away, "\"Redis cannot be asked\"");
}

static void take_hosts(struct pulse *pulse)
{
    const char *before = pulse->hosts.text ? pulse->hosts.text : "";
    const char *now = pulse->new_hosts.text ? pulse->new_hosts.text : "";

    pulse->hosts_are_new = pulse->hosts_are_new || strcmp(before, now) != 0;
    free_lines(&pulse->hosts);
    pulse->hosts = pulse->new_hosts;
    pulse->new_hosts = (struct lines){ 0 };
}

/* A queue that was asked about may have been forgotten meanwhile, which is no failure. */
static void take_end(void *arg, int status, const char *rest)
{
    struct pulse *pulse = arg;

    end_lines(&pulse->new_hosts);
    pulse->ended = true;
    if (status == LATER_OK || status == LATER_E_NONE) {
        take_hosts(pulse);
        if (pulse->lists)
            board_listed(pulse->board);
        if (pulse->lists)
            pulse->named = pulse->asked;
        pulse->known = pulse->asked;
        pulse->away[0] = '\0';
    } else {
        free_lines(&pulse->new_hosts);
        keep_words(pulse, rest);
    }
    tell(pulse);
}

/* Asks about the queues whose turn it is, or about all if they are not known. */
static void ask(struct pulse *pulse)
{
    struct order order = { .words = { "status", "--json", "--" }, .count = 2, .patience = 5 };
    struct desk_answer answer = { .line = take_line, .end = take_end, .arg = pulse };
    double now = later_clock();

    pulse->lists = pulse->named == 0 || board_count(pulse->board) == 0;
    if (pulse->lists)
        board_list(pulse->board);
    else
        order.count = 3 + board_due(pulse->board, now, order.words + 3, TOGETHER);
    begin_lines(&pulse->new_hosts);
    pulse->asked = now;
    pulse->ended = false;
    desk_order(pulse->desk, &order, &answer);
}

static void take_name(void *arg, const char *line, size_t len)
{
    struct pulse *pulse = arg;

    board_name(pulse->board, line, len);
}

static void take_names(void *arg, int status, const char *rest)
{
    struct pulse *pulse = arg;

    (void)rest;
    if (status == LATER_OK) {
        board_listed(pulse->board);
        pulse->named = pulse->asked;
    }
    ask(pulse); /* this fails too, and reports why */
}

static void ask_names(struct pulse *pulse)
{
    struct order order = { .words = { "queues" }, .count = 1, .patience = 5 };
    struct desk_answer answer = { .line = take_name, .end = take_names, .arg = pulse };

    board_list(pulse->board);
    pulse->asked = later_clock();
    pulse->ended = false;
    desk_order(pulse->desk, &order, &answer);
}

static bool wants_names(const struct pulse *pulse, double now)
{
    double many = 1.0 + (double)(board_count(pulse->board) / NAMES_MORE);

    return pulse->named > 0 && now - pulse->named >= NAMES * many;
}

/* Called every half second. */
static void look_at_clock(evutil_socket_t fd, short what, void *arg)
{
    struct pulse *pulse = arg;
    double now = later_clock();

    (void)fd;
    (void)what;
    if (now - pulse->looked > LOOKING) {
        event_del(pulse->timer);
        pulse->named = 0; /* the next reader gets new numbers of all queues */
        return;
    }
    if (!desk_is_free(pulse->desk)) {
        if (now - pulse->asked > LATE_AFTER)
            tell(pulse);
    } else if (now - pulse->asked >= BEAT - 0.25) {
        if (wants_names(pulse, now))
            ask_names(pulse);
        else
            ask(pulse);
    }
}

bool pulse_is_fresh(const struct pulse *pulse)
{
    return pulse->known > 0 && !pulse->away[0] && later_clock() - pulse->known < FRESH;
}

void pulse_hurry(struct pulse *pulse, const char *queue)
{
    board_hurry(pulse->board, queue);
}

void pulse_look(struct pulse *pulse)
{
    struct timeval half = { .tv_usec = 500000 };

    pulse->looked = later_clock();
    if (event_pending(pulse->timer, EV_TIMEOUT, NULL))
        return;
    event_add(pulse->timer, &half);
    look_at_clock(-1, 0, pulse);
}

struct pulse *pulse_new(struct event_base *base, const struct desk_program *program, pulse_fn *fn,
                        void *arg, struct later_error *err)
{
    struct pulse *pulse = calloc(1, sizeof *pulse);

    if (pulse) {
        *pulse = (struct pulse){
            .desk = desk_new(base, program), .board = board_new(), .fn = fn, .arg = arg
        };
        pulse->timer = event_new(base, -1, EV_PERSIST, look_at_clock, pulse);
        if (pulse->desk && pulse->board && pulse->timer)
            return pulse;
    }
    pulse_free(pulse);
    later_fail(err, LATER_E_SYSTEM, "no memory");
    return NULL;
}

void pulse_free(struct pulse *pulse)
{
    if (!pulse)
        return;
    desk_free(pulse->desk);
    if (pulse->timer)
        event_free(pulse->timer);
    board_free(pulse->board);
    free_lines(&pulse->hosts);
    free_lines(&pulse->new_hosts);
    free(pulse);
}
