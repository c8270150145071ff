/* pulse.c: what runs, what waits and who works. */
#include "pulse.h"

#include "base/clock.h"
#include "output/jsonl.h"

#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKING    10.0 /* seconds that a look lasts */
#define COMMANDS   16.0 /* a second, in Redis */
#define SLOWEST    5.0  /* seconds between two questions */
#define LATE_AFTER 3.0  /* seconds without an answer: that is told */

/* Lines as the elements of a JSON list. */
struct lines {
    char *text; /* owned, with a comma before each line */
    size_t len, count;
    FILE *out; /* while they come */
};

struct pulse {
    struct desk *desk;
    struct event *timer;
    pulse_fn *fn;
    void *arg;
    struct lines queues, hosts;         /* what is known */
    struct lines new_queues, new_hosts; /* what is coming */
    double known;                       /* when they were asked for; 0 = never */
    double asked, looked;               /* the last times; 0 = never */
    bool ended;                         /* the last question was answered */
    char away[600];                     /* JSON string: why the last question failed */
};

static const char *const question[] = { "status", "--json", NULL };

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

char *pulse_text(const struct pulse *pulse, size_t *len)
{
    bool late = !pulse->ended && pulse->asked > 0 && later_clock() - pulse->asked > LATE_AFTER;
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out)
        return NULL;
    fprintf(
        out, "{\"known\":%s,\"age\":%.1f,\"away\":%s,\"queues\":[%s],\"hosts\":[%s]}",
        pulse->known > 0 ? "true" : "false", pulse->known > 0 ? later_clock() - pulse->known : 0.0,
        pulse->away[0] ? pulse->away
        : late         ? "\"Redis does not answer\""
                       : "\"\"",
        pulse->queues.text ? pulse->queues.text : "", pulse->hosts.text ? pulse->hosts.text : "");
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void tell(struct pulse *pulse)
{
    size_t len;
    char *text = pulse_text(pulse, &len);

    if (text)
        pulse->fn(pulse->arg, text, len);
    free(text);
}

/* A queue's line begins with its name; all others are of daemons. */
static void take_line(void *arg, const char *line, size_t len)
{
    struct pulse *pulse = arg;
    bool queue = strncmp(line, "{\"queue\":", 9) == 0;

    add_line(queue ? &pulse->new_queues : &pulse->new_hosts, line, len);
}

/* `rest` is "status":69,"words":"…"}: its last string is kept as it is. */
static void keep_words(struct pulse *pulse, const char *rest)
{
    const char *words = strstr(rest, "\"words\":");
    int len = words ? (int)strlen(words + 8) - 1 : 0;

    if (len >= 2 && len < (int)sizeof pulse->away)
        snprintf(pulse->away, sizeof pulse->away, "%.*s", len, words + 8);
    else
        snprintf(pulse->away, sizeof pulse->away, "\"Redis cannot be asked\"");
}

static void take_end(void *arg, int status, const char *rest)
{
    struct pulse *pulse = arg;

    end_lines(&pulse->new_queues);
    end_lines(&pulse->new_hosts);
    pulse->ended = true;
    if (status == LATER_OK) {
        free_lines(&pulse->queues);
        free_lines(&pulse->hosts);
        pulse->queues = pulse->new_queues;
        pulse->hosts = pulse->new_hosts;
        pulse->new_queues = pulse->new_hosts = (struct lines){ 0 };
        pulse->known = pulse->asked;
        pulse->away[0] = '\0';
    } else {
        free_lines(&pulse->new_queues);
        free_lines(&pulse->new_hosts);
        keep_words(pulse, rest);
    }
    tell(pulse);
}

static void ask(struct pulse *pulse)
{
    struct order order = { .count = 2, .patience = 5 };
    struct desk_answer answer = { .line = take_line, .end = take_end, .arg = pulse };

    memcpy(order.words, question, sizeof question);
    begin_lines(&pulse->new_queues);
    begin_lines(&pulse->new_hosts);
    pulse->asked = later_clock();
    pulse->ended = false;
    desk_order(pulse->desk, &order, &answer);
}

static double pace(const struct pulse *pulse)
{
    double commands = 4 + 2 * (double)pulse->queues.count; /* some of each question; two a queue */

    return fmin(fmax(1.0, commands / COMMANDS), SLOWEST);
}

/* Each half second. */
static void look_at_clock(evutil_socket_t fd, short what, void *arg)
{
    struct pulse *pulse = arg;
    double now = later_clock();

    (void)fd;
    (void)what;
    if (now - pulse->looked > LOOKING) {
        event_del(pulse->timer);
        return;
    }
    if (!desk_is_free(pulse->desk)) {
        if (now - pulse->asked > LATE_AFTER)
            tell(pulse);
    } else if (now - pulse->asked >= pace(pulse) - 0.25) {
        ask(pulse);
    }
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
        *pulse = (struct pulse){ .desk = desk_new(base, program), .fn = fn, .arg = arg };
        pulse->timer = event_new(base, -1, EV_PERSIST, look_at_clock, pulse);
        if (pulse->desk && pulse->timer)
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
    free_lines(&pulse->queues);
    free_lines(&pulse->hosts);
    free_lines(&pulse->new_queues);
    free_lines(&pulse->new_hosts);
    free(pulse);
}
