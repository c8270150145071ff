/* tasks.c: requests that are answered by a `later` command. */
#include "tasks/tasks.h"

#include "tasks/acts.h"
#include "http/answer.h"
#include "output/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SERVES  4  /* for short commands */
#define STREAMS 2  /* for long ones */
#define WAITING 64 /* requests that may wait in the queue */

/* Bytes that a stream may be behind. A command's answer is bounded; its documents come together,
 * faster than anybody can read them. */
#define STREAM_MAX (32UL << 20)

#define UP_0                                                                                       \
    "# HELP laterd_redis_up 1 if Redis has answered all questions for these metrics.\n"            \
    "# TYPE laterd_redis_up gauge\nlaterd_redis_up 0\n"

struct task {
    struct tasks *tasks;
    struct task *next;              /* the next in the queue */
    struct evhttp_request *request; /* NULL = its reader has left */
    struct serve *serve;            /* NULL = still in the queue */
    unsigned long number;           /* of what changes something (acts.h), otherwise 0 */
    struct params params;
    struct order order;
    char who[ACT_WHO];
    const struct mask *mask; /* NULL: nothing is masked */
    char *command;
    FILE *out; /* collects the answer */
    char *text;
    size_t len, lines;
    size_t held; /* bytes that it has collected so far */
    bool asks;   /* its command waits for an answer */
};

struct tasks {
    struct http *http;
    struct serve *serves[SERVES + STREAMS]; /* those for streams come last */
    struct task *first;                     /* head of the queue */
    struct task *acting[STREAMS];           /* streams that change something; NULL = free */
    struct acts *acts;                      /* borrowed */
    size_t waiting;
    size_t held; /* bytes that all tasks have collected */
    tasks_done_fn *done;
    void *arg;
};

static void free_task(struct task *task)
{
    if (!task)
        return;
    if (task->out)
        fclose(task->out);
    task->tasks->held -= task->held;
    params_free(&task->params);
    free(task->command);
    free(task->text);
    free(task);
}

/* --- answers --- */

static void tasks_run_next(struct tasks *tasks);

/* Without room for the answer, its reader is told at once. What was ordered is done nevertheless if
 * it changes something; its answer is short. */
static bool has_room(struct task *task, size_t len)
{
    struct tasks *tasks = task->tasks;

    if (task->order.act || tasks->held + len + http_unsent(tasks->http) <= HTTP_UNSENT_MAX) {
        task->held += len;
        tasks->held += len;
        return true;
    }
    serve_stop(task->serve);
    if (task->request)
        answer_error(tasks->http, task->request, 503, HTTP_FULL);
    free_task(task);
    tasks_run_next(tasks);
    return false;
}

/* Returns the line as its reader may see it, in *copy if that is another. Without memory that is
 * none. */
static const char *tasks_masked(const struct task *task, const char *line, size_t *len, char **copy)
{
    *copy = task->mask ? mask_line(task->mask, line, len) : NULL;
    if (!task->mask || *copy)
        return task->mask ? *copy : line;
    *len = strlen("null");
    return "null";
}

static void tasks_take_line(void *arg, const char *line, size_t len)
{
    struct task *task = arg;
    char *copy;

    if (!has_room(task, len))
        return;
    acts_tell(task->tasks->acts, task->number, line, len);
    line = tasks_masked(task, line, &len, &copy);
    if (task->lines++)
        putc(',', task->out);
    if (line[0] == '{')
        fwrite(line, 1, len, task->out);
    else
        jsonl_list(task->out, &line, 1); /* some commands print plain text even with --json */
    free(copy);
}

static void send_event(struct task *task, const char *name, const char *data, size_t len)
{
    char *event = NULL;
    int all = asprintf(&event, "%s%s%sdata: %.*s\n\n", *name ? "event: " : "", name,
                       *name ? "\n" : "", (int)len, data);

    if (all > 0 && task->request)
        http_stream_send(task->tasks->http, task->request, event, (size_t)all, STREAM_MAX);
    if (all > 0)
        free(event);
}

static void raw_line(void *arg, const char *line, size_t len)
{
    struct task *task = arg;

    if (!has_room(task, len))
        return;
    fwrite(line, 1, len, task->out);
    putc('\n', task->out);
}

static void stream_line(void *arg, const char *line, size_t len)
{
    struct task *task = arg;
    char *copy;

    acts_tell(task->tasks->acts, task->number, line, len);
    if (task->order.act && strstr(line, ",\"asks\":\"")) {
        task->asks = true;
        if (!task->request)
            serve_interrupt(task->serve); /* nobody sees the question */
    }
    line = tasks_masked(task, line, &len, &copy);
    send_event(task, "", line, len);
    free(copy);
}

/* --- files --- */

static void begin_file(struct task *task)
{
    const char *state = params_get(&task->params, "state");
    char name[40];

    snprintf(name, sizeof name, "later-%.16s.ndjson", state ? state : "jobs");
    http_add_header(task->request, "Later-Command", task->command);
    answer_file(task->request, task->order.raw, name);
}

static void file_line(void *arg, const char *line, size_t len)
{
    struct task *task = arg;
    char *copy, *whole = NULL;
    int all;

    if (task->lines++ == 0)
        begin_file(task);
    line = tasks_masked(task, line, &len, &copy);
    all = asprintf(&whole, "%.*s\n", (int)len, line);
    if (all > 0)
        http_stream_send(task->tasks->http, task->request, whole, (size_t)all, STREAM_MAX);
    else
        http_stream_cut(task->tasks->http, task->request);
    if (all > 0)
        free(whole);
    free(copy);
}

/* A file that is not whole must not look so. If nothing was sent yet, the answer says why. */
static void end_file(struct task *task, int status)
{
    struct http *http = task->tasks->http;
    bool whole = status == LATER_OK || status == LATER_E_DATA; /* some cannot be pushed again */

    if (task->lines == 0 && !whole) {
        answer_json(http, task->request, answer_status(status), task->text, task->len);
        task->text = NULL;
        return;
    }
    if (task->lines == 0)
        begin_file(task);
    if (whole)
        http_stream_end(http, task->request);
    else
        http_stream_cut(http, task->request);
}

/* --- streams that can be stopped --- */

static void begin_acting(struct task *task)
{
    struct tasks *tasks = task->tasks;
    char event[40];
    size_t i = 0;
    int len;

    while (i < STREAMS - 1 && tasks->acting[i])
        i++;
    tasks->acting[i] = task;
    len = snprintf(event, sizeof event, "{\"task\":%lu}", task->number);
    send_event(task, "task", event, (size_t)len);
}

static void end_acting(const struct task *task)
{
    for (size_t i = 0; i < STREAMS; i++) {
        if (task->tasks->acting[i] == task)
            task->tasks->acting[i] = NULL;
    }
}

/* NULL if it has ended. */
static struct task *acting_find(const struct tasks *tasks, unsigned long number)
{
    for (size_t i = 0; i < STREAMS; i++) {
        if (tasks->acting[i] && tasks->acting[i]->number == number)
            return tasks->acting[i];
    }
    return NULL;
}

int tasks_stop(const struct tasks *tasks, unsigned long number)
{
    struct task *task = acting_find(tasks, number);

    if (!task)
        return -1;
    task->asks = false;
    serve_interrupt(task->serve);
    return 0;
}

int tasks_go_on(const struct tasks *tasks, unsigned long number)
{
    struct task *task = acting_find(tasks, number);

    if (!task || !task->asks)
        return -1;
    task->asks = false; /* what is told now it would take for the next command */
    serve_say_yes(task->serve);
    return 0;
}

/* --- the end --- */

/* If Redis does not answer, this is what is known, and what an alert waits for. */
static void answer_raw(struct task *task, int status)
{
    struct http *http = task->tasks->http;
    bool open = strcmp(task->order.words[task->order.count - 1], "--openmetrics") == 0;

    if (status == LATER_E_REDIS) {
        free(task->text);
        task->text = strdup(open ? UP_0 "# EOF\n" : UP_0);
        task->len = task->text ? strlen(task->text) : 0;
        status = LATER_OK;
    }
    if (status == LATER_OK)
        answer_text(http, task->request, 200, task->order.raw, task->text, task->len);
    else
        answer_error(http, task->request, answer_status(status), "there are no metrics");
    if (status == LATER_OK)
        task->text = NULL;
}

static void tasks_take_end(void *arg, int status, const char *rest)
{
    struct task *task = arg;
    struct tasks *tasks = task->tasks;

    if (task->order.act)
        tasks->done(tasks->arg, task->who, task->command, params_get(&task->params, "queue"),
                    status);
    acts_end(tasks->acts, task->number, rest, (double)time(NULL));
    if (!task->order.raw || task->order.stream)
        fprintf(task->out, "],%s", rest);
    fclose(task->out);
    task->out = NULL;
    if (task->request && task->order.raw && task->order.stream) {
        end_file(task, status);
    } else if (task->request && task->order.raw) {
        answer_raw(task, status);
    } else if (task->request && task->order.stream) {
        send_event(task, "end", task->text, task->len);
        http_stream_end(tasks->http, task->request);
    } else if (task->request) {
        answer_json(tasks->http, task->request, answer_status(status), task->text, task->len);
        task->text = NULL;
    }
    end_acting(task);
    free_task(task);
    tasks_run_next(tasks);
}

static int begin_answer(struct task *task)
{
    struct jsonl json;

    task->out = open_memstream(&task->text, &task->len);
    if (!task->out)
        return -1;
    if (task->order.raw && !task->order.stream)
        return 0;
    jsonl_begin(&json, task->out);
    jsonl_text(&json, "command", task->command);
    jsonl_raw(&json, "answers", "[");
    return 0;
}

/* --- the queue --- */

static void (*tasks_line_fn(const struct order *order))(void *arg, const char *line, size_t len)
{
    if (order->raw)
        return order->stream ? file_line : raw_line;
    return order->stream ? stream_line : tasks_take_line;
}

static void tasks_run(struct task *task, struct serve *serve)
{
    struct serve_answer answer = { .line = tasks_line_fn(&task->order),
                                   .end = tasks_take_end,
                                   .arg = task };

    task->serve = serve;
    serve_order(serve, &task->order, &answer);
}

static struct serve *free_serve(const struct tasks *tasks, bool stream)
{
    size_t from = stream ? SERVES : 0, to = stream ? SERVES + STREAMS : SERVES;

    for (size_t i = from; i < to; i++) {
        if (serve_is_free(tasks->serves[i]))
            return tasks->serves[i];
    }
    return NULL;
}

static void tasks_run_next(struct tasks *tasks)
{
    struct serve *serve;

    while (tasks->first && (serve = free_serve(tasks, false))) {
        struct task *task = tasks->first;

        tasks->first = task->next;
        tasks->waiting--;
        tasks_run(task, serve);
    }
}

static void leave_queue(struct task *task)
{
    struct task **at = &task->tasks->first;

    while (*at && *at != task)
        at = &(*at)->next;
    if (*at) {
        *at = task->next;
        task->tasks->waiting--;
    }
}

/* The reader has left. A look that waits in the queue is dropped. A stream that only looks is
 * stopped, and so is an action that asks, since nobody sees its question. Other actions are
 * finished. A short command is read to its end, since stopping it would cost
 * a new process. */
static void tasks_gone(void *arg)
{
    struct task *task = arg;

    task->request = NULL;
    if (!task->serve && !task->order.act) {
        leave_queue(task);
        free_task(task);
    } else if (task->order.stream && !task->order.act) {
        serve_stop(task->serve);
        free_task(task);
    } else if (task->asks) {
        serve_interrupt(task->serve);
    }
}

static void wait_in_queue(struct task *task)
{
    struct task **at = &task->tasks->first;

    while (*at)
        at = &(*at)->next;
    *at = task;
    task->tasks->waiting++;
    tasks_run_next(task->tasks);
}

static unsigned long tasks_note(const struct tasks *tasks, const struct task *task)
{
    struct act_news news = { .who = task->who,
                             .command = task->command,
                             .path = task->order.name,
                             .queue = params_get(&task->params, "queue"),
                             .many = task->order.stream };

    return acts_begin(tasks->acts, &news, (double)time(NULL));
}

static void tasks_begin(struct tasks *tasks, struct task *task)
{
    struct serve *serve = task->order.stream ? free_serve(tasks, true) : NULL;

    if (task->order.stream ? !serve : tasks->waiting >= WAITING) {
        answer_error(tasks->http, task->request, 503,
                     task->order.stream ? "two searches are running already: stop one of them"
                                        : "too many requests wait");
        free_task(task);
        return;
    }
    if (task->order.act)
        task->number = tasks_note(tasks, task);
    http_when_gone(tasks->http, task->request, tasks_gone, task);
    if (!serve) {
        wait_in_queue(task);
        return;
    }
    if (!task->order.raw)
        answer_stream(task->request);
    if (task->order.act)
        begin_acting(task);
    tasks_run(task, serve);
}

void tasks_take(struct tasks *tasks, struct evhttp_request *request, const char *path, bool post,
                struct params *params, const char *who, const struct mask *mask)
{
    struct task *task = calloc(1, sizeof *task);
    const char *why = "no memory";
    int status = 500;

    if (task) {
        *task =
            (struct task){ .tasks = tasks, .request = request, .params = *params, .mask = mask };
        *params = (struct params){ 0 };
        snprintf(task->who, sizeof task->who, "%s", who);
        status = route_order(&task->order, path, post, &task->params, &why);
        task->command = status == 0 ? route_spell(&task->order) : NULL;
    }
    if (status == 0 && task->command && begin_answer(task) == 0) {
        tasks_begin(tasks, task);
        return;
    }
    answer_error(tasks->http, request, status ? status : 500, status ? why : "no memory");
    params_free(params);
    free_task(task);
}

/* --- all of it --- */

struct tasks *tasks_new(struct event_base *base, struct http *http,
                        const struct serve_program *program, struct acts *acts, tasks_done_fn *done,
                        void *arg, struct later_error *err)
{
    struct tasks *tasks = calloc(1, sizeof *tasks);

    if (!tasks) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *tasks = (struct tasks){ .http = http, .acts = acts, .done = done, .arg = arg };
    for (size_t i = 0; i < SERVES + STREAMS; i++) {
        tasks->serves[i] = serve_new(base, program);
        if (tasks->serves[i])
            continue;
        tasks_free(tasks);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    return tasks;
}

void tasks_free(struct tasks *tasks)
{
    if (!tasks)
        return;
    for (size_t i = 0; i < SERVES + STREAMS; i++)
        serve_free(tasks->serves[i]);
    while (tasks->first) {
        struct task *task = tasks->first;

        tasks->first = task->next;
        free_task(task);
    }
    free(tasks);
}
