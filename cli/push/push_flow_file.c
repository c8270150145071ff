/*
 * push_flow_file.c: `later push --flow F --file FILE`.
 *
 * The file is read twice or three times. First every line is checked, and what waits for what; so
 * nothing is pushed of a flow that cannot end. Then the jobs that wait are pushed, and after them
 * the others: so nothing has begun whose successor is not there, whenever this command dies. At
 * last the flow is closed. The same command again adds what is missing.
 */
#include "push/push.h"

#include "client/flow_send.h"
#include "job/document_line.h"
#include "job/flow_plan.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum pass { CHECK, WAITING, OTHERS };

struct flow_file {
    struct cli *cli;
    const char *name, *adder; /* adder: a running job of the flow; "" = none */
    bool open;                /* more may be added later */
    int fd;
    uint64_t line;
    enum pass pass;
    later_queue_name home; /* the queue of --home, of -q, or of the first job */
    struct later_flow_plan *plan;
    struct later_flow_tie *tie;    /* of the present line; owned */
    struct later_flow_send *send;  /* owned */
    uint64_t found, pushed, known; /* jobs: in the file, new to the flow, known to it */
};

static int flow_file_fail(const struct flow_file *file, struct later_error *err)
{
    struct later_error why = *err;

    return later_fail(err, why.code, "line %" PRIu64 ": %s", file->line, why.text);
}

/* ---- what became of a job */

static void flow_file_tell(void *arg, const struct later_flow_sent *sent)
{
    bool is_new = sent->how == LATER_IS_PUSHED;
    struct flow_file *file = arg;

    file->pushed += is_new;
    file->known += !is_new;
    if (file->cli->json)
        push_print_json(sent->queue, sent->id, sent->how, sent->state, sent->mark);
    else if (!file->cli->out_terminal)
        puts(sent->id);
}

/* ---- a line */

static int flow_file_refuse(const struct flow_file *file, const struct later_line *line,
                            struct later_error *err)
{
    const struct later_push_item *item = &line->item;

    if (file->tie->flow[0] && strcmp(file->tie->flow, file->name) != 0)
        return later_fail(err, LATER_E_DATA, "flow: is not %s", file->name);
    if (item->expires_in > 0 || item->unique_for > 0 || item->throttle > 0 || item->again ||
        item->debounce > 0)
        return later_fail(err, LATER_E_DATA,
                          "expires_in, unique_for, again, debounce, throttle: not for a job of a "
                          "flow");
    return 0;
}

/* A job without id has its step's, or its line's, so that the same file again means the same jobs.
 */
static void flow_file_name(const struct flow_file *file, const struct later_line *line,
                           char id[LATER_ID_SIZE])
{
    if (line->item.id)
        snprintf(id, LATER_ID_SIZE, "%s", line->item.id);
    else if (file->tie->step[0])
        snprintf(id, LATER_ID_SIZE, "%s.%s", file->name, file->tie->step);
    else
        snprintf(id, LATER_ID_SIZE, "%s:%" PRIu64, file->name, file->line);
}

/* Looks at a line before anything is pushed. */
static int flow_file_check(struct flow_file *file, const struct later_line *line, const char *queue,
                           struct later_error *err)
{
    const struct args *args = &file->cli->args;

    if (file->found++ == 0 && !args_text(args, "home") && !args_text(args, "queue"))
        strcpy(file->home, queue);
    return flow_file_refuse(file, line, err) < 0
               ? -1
               : later_flow_plan_add(file->plan, file->tie, file->line, err);
}

static int flow_file_take(struct flow_file *file, const struct later_line *line,
                          struct later_error *err)
{
    const char *queue = line->queue[0] ? line->queue : cli_queue(file->cli);
    struct later_flow_job job;
    char id[LATER_ID_SIZE];

    if (later_flow_tie(file->tie, line->item.document, line->item.document_len, err) < 0)
        return -1;
    if (file->pass == CHECK)
        return flow_file_check(file, line, queue, err);
    if ((file->tie->after[0] != '\0') != (file->pass == WAITING))
        return 0;
    flow_file_name(file, line, id);
    job = (struct later_flow_job){ .step = file->tie->step,
                                   .after = file->tie->after,
                                   .when = file->tie->when,
                                   .item = line->item };
    job.item.id = id;
    return later_flow_send_add(file->send, queue, &job, file->line, err);
}

static int flow_file_line(struct flow_file *file, const char *bytes, size_t len,
                          struct later_error *err)
{
    struct later_line line;
    int ok;

    while (len > 0 && strchr(" \t\r", bytes[len - 1]))
        len--;
    if (len == 0)
        return 0;
    if (later_line_parse(&line, bytes, len, file->cli->where.document_max, err) < 0)
        return flow_file_fail(file, err);
    ok = flow_file_take(file, &line, err);
    later_line_free(&line);
    return ok < 0 && file->pass == CHECK ? flow_file_fail(file, err) : ok;
}

/* Goes through the file once. */
static int flow_file_pass(struct flow_file *file, enum pass pass, struct later_error *err)
{
    struct lines lines;
    const char *bytes;
    size_t len;
    int ok = 0;

    if (lseek(file->fd, 0, SEEK_SET) < 0)
        return later_fail(err, LATER_E_NONE, "cannot be read again: %s; `-` reads a pipe",
                          strerror(errno));
    file->pass = pass;
    file->line = 0;
    lines_begin(&lines, file->fd, LATER_LINE_ROOM(file->cli->where.document_max));
    while (ok == 0 && (bytes = lines_next(&lines, &len))) {
        if (++file->line > LATER_FLOW_JOBS)
            ok = later_fail(err, LATER_E_DATA, "a flow has at most %d jobs", LATER_FLOW_JOBS);
        else
            ok = flow_file_line(file, bytes, len, err);
    }
    if (ok == 0 && lines.failed)
        ok = later_fail(err, LATER_E_NONE, "%s", strerror(lines.failed));
    lines_end(&lines);
    return ok;
}

static int flow_file_all(struct flow_file *file, struct later_error *err)
{
    const struct later_flow_goal goal = { .home = file->home,
                                          .name = file->name,
                                          .adder = file->adder };

    if (flow_file_pass(file, CHECK, err) < 0 ||
        later_flow_plan_check(file->plan, file->open, err) < 0)
        return -1;
    if (file->found == 0)
        return later_fail(err, LATER_E_DATA, "the file has no jobs");
    file->send = later_flow_send_new(file->cli->client, &goal, flow_file_tell, file, err);
    if (!file->send || flow_file_pass(file, WAITING, err) < 0 ||
        later_flow_send_turn(file->send, err) < 0 || flow_file_pass(file, OTHERS, err) < 0)
        return -1;
    return later_flow_send_end(file->send, !file->open, err);
}

/* Standard input is copied into an unnamed file, to be read more than once. */
static int flow_file_copy(struct later_error *err)
{
    FILE *copy = tmpfile();
    char bytes[65536];
    ssize_t got = 0;
    int fd;

    while (copy && (got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
        if (fwrite(bytes, 1, (size_t)got, copy) < (size_t)got)
            break;
    }
    fd = copy && got == 0 && fflush(copy) == 0 ? dup(fileno(copy)) : -1;
    if (fd < 0)
        later_fail(err, LATER_E_SYSTEM, "standard input cannot be copied: %s", strerror(errno));
    if (copy)
        fclose(copy);
    return fd;
}

/* Opens the file, and pushes it. */
static int flow_file_open(struct flow_file *file, const char *path, struct later_error *err)
{
    int ok = -1;

    file->fd = strcmp(path, "-") == 0 ? flow_file_copy(err) : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 && strcmp(path, "-") != 0)
        later_fail(err, LATER_E_NONE, "%s: %s", path, strerror(errno));
    if (file->fd >= 0)
        ok = flow_file_all(file, err);
    if (file->fd >= 0)
        close(file->fd);
    return ok;
}

/* The flow's queue, as far as options say it. */
static int flow_file_home(struct flow_file *file, struct later_error *err)
{
    const char *home = args_text(&file->cli->args, "home");

    if (later_call_whole(cli_queue(file->cli), err) < 0 ||
        (home && later_call_whole(home, err) < 0) || !cli_client(file->cli, err))
        return -1;
    strcpy(file->home, home ? home : cli_queue(file->cli));
    return 0;
}

int push_flow_file(struct cli *cli, const char *name, const char *path, struct later_error *err)
{
    struct flow_file file = { .cli = cli,
                              .name = name,
                              .adder = args_text(&cli->args, "adder"),
                              .open = args_flag(&cli->args, "open"),
                              .plan = later_flow_plan_new(),
                              .tie = malloc(sizeof *file.tie) };
    struct later_error ignored;
    int ok;

    if (!file.adder)
        file.adder = "";
    if (!later_key_queue_valid(name))
        ok = later_fail(err, LATER_E_USAGE, "--flow: 1 to %d of A-Z a-z 0-9 _ . -", LATER_FLOW_MAX);
    else if (!file.plan || !file.tie)
        ok = later_fail(err, LATER_E_SYSTEM, "no memory");
    else
        ok = flow_file_home(&file, err);
    if (ok == 0)
        ok = flow_file_open(&file, path, err);
    if (ok == 0)
        (void)later_call_drain(cli->client, &ignored); /* only announcements can fail */
    if (ok == 0 && (cli->err_terminal || file.known))
        cli_say(cli, "flow %s: %" PRIu64 " pushed, %" PRIu64 " existed", name, file.pushed,
                file.known);
    later_flow_send_free(file.send);
    later_flow_plan_free(file.plan);
    free(file.tie);
    return ok < 0 ? -1 : LATER_OK;
}
