/*
 * exec_lines.c: jobs for a long-lived program, one line each.
 *
 * Each worker has one process of each such program, which is started when it is first needed and
 * performs one job at a time. So the number of workers is the number of processes, no process keeps
 * jobs that others could perform, and a job's time begins when its program has it.
 *
 * Answers come on descriptor 3. What the program prints is logged. A line on descriptor 3 that
 * cannot be read ends the job, since no other answer will come; one with another job's id is logged
 * and skipped. If a program dies, that counts against the job whose line it had begun to read. If
 * it had read nothing of the job, it is started again: the first time at once, then as
 * exec_throttle.h says. Meanwhile the job is returned, which is no attempt.
 *
 * laterd asks whether the program is ready before it takes what the job needs besides. If the
 * program ends between that and the job, the job waits for the next one, but not for long, since
 * its limits have counted it.
 */
#include "exec_answer.h"
#include "exec_process.h"
#include "exec_term.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLITE     1.0   /* seconds for a program to end once its input is closed */
#define TERM_GRACE 2.0   /* seconds between TERM and KILL, and ... */
#define TERM_SHARE 0.2   /* ... at most this share of the job's time */
#define KILL_SHARE 0.25  /* KILL when this share of that time is left */
#define ASKED      1.0   /* seconds for a program to give up a cancelled job */
#define STARTING   1.0   /* seconds that a job waits here for a program to start */
#define LOOK_FIRST 0.001 /* seconds between two looks whether it has read its line, and ... */
#define LOOK_LAST  0.016 /* ... at most */
#define LOOK       0.25  /* seconds between two checks whether the job was cancelled */
#define LOOK_OFTEN 0.02  /* the same, if the program's end is only noticed by checking */

enum { GOING = -1, READS_MAX = 64 }; /* reads per turn: more than a pipe holds */

/* A job and its program. */
struct talk {
    struct later_job *job;
    const struct exec_program *program;
    struct exec_process *process;
    char *line, *orders; /* what to write; orders: what it is told of the job after its line */
    size_t len, written, orders_len;
    size_t sent;        /* bytes written to the pipe */
    int result;         /* GOING, or enum later_result */
    bool last;          /* it takes no job after this one */
    bool unread;        /* it died before it read anything of the job */
    unsigned refused;   /* lines that were no answer */
    bool untold;        /* limits wait to be told that it has begun; looked after every ... */
    double look;        /* ... so many seconds */
    double grace;       /* TERM when this much of the job's time is left */
    const char *broken; /* why it is of no use any more */
    double broken_at;   /* when that was found; it is ended a little later, since it may be about to
                           end */
    bool timed_out, cancelled, told_stopping, term_sent;
    bool worker_ends; /* TERM has come for it */
    struct exec_term term;
    double asked_at; /* when it was asked to give up the job */
    double kill_at;
};

static void exec_lines_say(void *arg, const char *line)
{
    struct talk *talk = arg;
    const char *text;
    enum later_level level = exec_output_level(line, &text);

    later_job_log(talk->job, level, "output: %s", text);
}

/* --- its answers --- */

static void exec_lines_refuse_line(struct talk *talk, const char *why, const char *line)
{
    if (talk->refused++ == 0)
        later_job_log(talk->job, LATER_WARN, "refused a line of %s %s: %.100s", talk->program->name,
                      why, line);
}

/* The program has one job or none. */
static struct later_job *present(void *job, const char *id)
{
    return job && strcmp(later_job_id(job), id) == 0 ? job : NULL;
}

/* A line that names no job and is no note can only be an answer to the present one. */
static void exec_lines_take_line(struct talk *talk, const char *line, bool cut)
{
    struct exec_answer answer;
    enum exec_answer_kind kind =
        exec_answer_read(present, talk->job, talk->program->name, line, cut, &answer);

    exec_process_heard(talk->process, answer.hello, answer.stops);
    if (kind == EXEC_ANSWER_RESULT) {
        talk->result = (int)answer.result;
        talk->last = answer.last;
    } else if (kind == EXEC_ANSWER_REFUSED && answer.ends && !answer.id[0]) {
        talk->result = (int)exec_answer_bury(talk->job, answer.why, line);
    } else if (kind == EXEC_ANSWER_REFUSED) {
        exec_lines_refuse_line(talk, answer.why, line);
    }
}

static void exec_lines_take_lines(struct talk *talk)
{
    char *line;
    bool cut;

    while (talk->result == GOING && (line = exec_reader_line(&talk->process->answers, &cut)))
        exec_lines_take_line(talk, line, cut);
}

static void exec_lines_take_rest(struct talk *talk)
{
    char *line = talk->result == GOING ? exec_reader_rest(&talk->process->answers) : NULL;

    if (line && exec_answer_is_whole(line))
        exec_lines_take_line(talk, line, false);
}

static enum exec_read exec_lines_read_answers(struct talk *talk)
{
    enum exec_read got;

    exec_lines_take_lines(talk); /* one read may have brought several lines */
    if (talk->result != GOING || talk->process->child.answers == -1)
        return EXEC_READ_NONE;
    got = exec_reader_read(&talk->process->answers, talk->process->child.answers);
    exec_lines_take_lines(talk);
    if (got == EXEC_READ_END)
        exec_lines_take_rest(talk);
    return got;
}

static void exec_lines_broke(struct talk *talk, const char *why)
{
    if (talk->broken)
        return;
    talk->broken = why;
    talk->broken_at = exec_now() + EXEC_BROKEN;
}

/* Returns the rest of the job's line, and then of what it is told of the job. */
static size_t to_write(const struct talk *talk, const char **bytes)
{
    bool line = talk->written < talk->len;
    size_t done = line ? talk->written : talk->written - talk->len;

    *bytes = (line ? talk->line : talk->orders) + done;
    return (line ? talk->len : talk->orders_len) - done;
}

static void write_input(struct talk *talk)
{
    const char *bytes;
    size_t len;
    ssize_t n;

    while ((len = to_write(talk, &bytes)) > 0) {
        n = exec_process_write(talk->process, bytes, len);
        if (n < 0) {
            talk->written = talk->len + talk->orders_len;
            exec_lines_broke(talk, "it closed its standard input");
        }
        if (n <= 0)
            return;
        talk->written += (size_t)n;
        talk->sent += (size_t)n;
    }
}

/* --- its end --- */

static void exec_lines_reason_of(const struct talk *talk, const struct exec_end *end, char *text,
                                 size_t n)
{
    if (talk->timed_out)
        snprintf(text, n, "timed out");
    else if (talk->cancelled)
        snprintf(text, n, "cancelled");
    else if (end->how == EXEC_FAILED)
        exec_end_text(end, talk->program, text, n);
    else
        exec_broken_text(end, talk->program, talk->broken, talk->term_sent, text, n);
}

static void exec_lines_charge(struct talk *talk, const struct exec_end *end)
{
    char text[400];

    if (talk->timed_out)
        later_job_kind(talk->job, LATER_KIND_TIMEOUT);
    else if (!talk->cancelled)
        later_job_kind(talk->job, LATER_KIND_CRASH);
    exec_lines_reason_of(talk, end, text, sizeof text);
    exec_output_fail(talk->job, text, &talk->process->tail);
    talk->result = LATER_RETRY;
}

static void died(struct talk *talk, const struct exec_end *end)
{
    size_t unread = exec_process_unread(talk->process);
    char how[300], why[EXEC_ERROR_MAX + 1];
    bool in_vain;

    for (int i = 0; i < READS_MAX && exec_lines_read_answers(talk) == EXEC_READ_SOME; i++)
        ; /* it may have answered before it ended */
    exec_process_output(talk->process, true, exec_lines_say, talk);
    in_vain =
        talk->result == GOING && talk->process->jobs == 0 && !talk->timed_out && !talk->cancelled;
    talk->unread = talk->result == GOING && !talk->timed_out && !talk->cancelled &&
                   (unread >= talk->sent || end->how == EXEC_FAILED);
    if (talk->result == GOING)
        exec_lines_charge(talk, end);
    exec_end_text(end, talk->program, how, sizeof how);
    exec_process_why(talk->process, talk->program, how, why);
    exec_process_close(talk->process, !in_vain, why);
}

/* Writes an order behind the job's line. Without memory there is none. */
static void tell_order(struct talk *talk, const char *order)
{
    size_t len = 0;
    char *line = exec_answer_order(talk->job, order, &len);
    char *orders = line ? realloc(talk->orders, talk->orders_len + len) : NULL;

    if (orders) {
        memcpy(orders + talk->orders_len, line, len);
        talk->orders = orders;
        talk->orders_len += len;
        write_input(talk);
    }
    free(line);
}

/* Asks the program to give up a cancelled job. A program that listens need not be ended. */
static void ask_to_give_up(struct talk *talk)
{
    talk->asked_at = exec_now();
    tell_order(talk, "cancel");
}

static void tell_stopping(struct talk *talk)
{
    if (talk->told_stopping || !talk->process->stops || !later_job_stopping(talk->job))
        return;
    talk->told_stopping = true;
    tell_order(talk, "stopping");
}

/* Sends TERM shortly before the job's time is over, or if the worker must end, and KILL if that
 * does not help. So the program is gone in time: otherwise the supervisor would end the worker. */
static void exec_lines_end_in_time(struct talk *talk)
{
    double left = later_job_time_left(talk->job);

    if (!talk->term_sent) {
        talk->timed_out = left <= talk->grace;
        talk->cancelled = !talk->timed_out && later_job_cancelled(talk->job);
        if (talk->cancelled && talk->asked_at == 0)
            ask_to_give_up(talk);
        if (!talk->timed_out &&
            !(talk->cancelled ? exec_now() >= talk->asked_at + ASKED : talk->worker_ends) &&
            (!talk->broken || exec_now() < talk->broken_at))
            return;
        if (exec_process_is_gone(talk->process)) /* its exit status says more */
            return;
        exec_process_signal(talk->process, SIGTERM);
        talk->term_sent = true;
        talk->kill_at =
            exec_now() + (talk->timed_out ? talk->grace * (1 - KILL_SHARE) : TERM_GRACE);
    } else if (exec_now() >= talk->kill_at || left <= 0) {
        exec_process_signal(talk->process, SIGKILL);
    }
}

/* --- one job --- */

static int milliseconds(struct talk *talk)
{
    double wait = talk->process->child.pidfd == -1 ? LOOK_OFTEN : LOOK;
    double left =
        talk->term_sent ? talk->kill_at - exec_now() : later_job_time_left(talk->job) - talk->grace;

    if (talk->term_sent && left <= 0)
        left = LOOK_OFTEN; /* it got KILL */
    if (talk->untold) {
        wait = talk->look;
        talk->look = talk->look < LOOK_LAST ? talk->look * 2 : LOOK_LAST;
    }
    if (talk->broken && !talk->term_sent && talk->broken_at - exec_now() < left)
        left = talk->broken_at - exec_now();
    if (left < wait)
        wait = left > 0 ? left : 0;
    return (int)(wait * 1000) + 1;
}

/* It has begun once it has read its line. */
static void tell_begin(struct talk *talk)
{
    if (!talk->untold || (talk->result == GOING &&
                          (talk->written < talk->len || exec_process_unread(talk->process) > 0)))
        return;
    talk->untold = false;
    later_job_begun(talk->job);
}

/* Sleeps until something happens, then reads and writes what it can. */
static void exec_lines_turn(struct talk *talk)
{
    struct exec_child *child = &talk->process->child;
    bool writing = talk->written < talk->len + talk->orders_len;
    bool ending = talk->term_sent || talk->cancelled;
    struct pollfd fds[] = { { .fd = child->answers, .events = POLLIN },
                            { .fd = child->output, .events = POLLIN },
                            { .fd = child->pidfd, .events = POLLIN },
                            { .fd = writing ? child->input : -1, .events = POLLOUT },
                            { .fd = ending ? -1 : exec_term_fd(&talk->term), .events = POLLIN } };

    if (poll(fds, 5, milliseconds(talk)) <= 0)
        return;
    talk->worker_ends = talk->worker_ends || fds[4].revents;
    if (fds[3].revents)
        write_input(talk);
    if (fds[1].revents)
        exec_process_output(talk->process, false, exec_lines_say, talk);
    if (fds[0].revents && exec_lines_read_answers(talk) == EXEC_READ_END) {
        close(child->answers);
        child->answers = -1;
        exec_lines_broke(talk, "it closed descriptor 3, where its answers go");
    }
}

static void exchange(struct talk *talk)
{
    struct exec_end end;

    if (talk->process->jobs > 0) /* else it may be ending, and this says why */
        exec_process_forget_tail(talk->process);
    talk->written = talk->process->ahead;
    talk->process->ahead = false;
    talk->sent = 0;
    talk->untold = later_job_counted(talk->job) == LATER_YES;
    talk->look = LOOK_FIRST;
    write_input(talk);
    while (talk->result == GOING) {
        exec_lines_turn(talk);
        if (talk->result != GOING)
            break;
        if (exec_process_ended(talk->process, &end)) {
            died(talk, &end);
            return;
        }
        tell_begin(talk);
        tell_stopping(talk);
        exec_lines_end_in_time(talk);
    }
    tell_begin(talk);
    talk->process->jobs++;
    talk->process->throttle.failures = 0;
    if (talk->written < talk->len + talk->orders_len || talk->term_sent || talk->broken)
        exec_process_end(talk->process, 0, exec_lines_say,
                         talk); /* it is of no use for another job */
    else if (talk->last)
        exec_process_end(talk->process, POLITE, exec_lines_say, talk);
}

/* What the program said between two jobs is no answer to the next one. */
static void drop_idle_lines(const struct exec_program *program)
{
    struct exec_process *process = program->process;
    struct exec_answer answer;
    enum exec_answer_kind kind;
    bool said = false, cut;
    char *line;

    for (int i = 0; i < READS_MAX; i++) {
        while ((line = exec_reader_line(&process->answers, &cut))) {
            kind = exec_answer_read(present, NULL, program->name, line, cut, &answer);
            exec_process_heard(process, answer.hello, answer.stops);
            if (kind == EXEC_ANSWER_NOTE)
                continue;
            if (!said)
                later_log("exec", LATER_WARN, "%s: refused a line, it has no job: %.100s",
                          program->name, line);
            said = true;
        }
        if (exec_reader_read(&process->answers, process->child.answers) != EXEC_READ_SOME)
            break;
    }
}

/* It has ended without a job. */
static void ended_idle(const struct exec_program *program, const struct exec_end *end)
{
    struct exec_process *process = program->process;
    char text[300], why[EXEC_ERROR_MAX + 1];

    exec_process_output(process, true, exec_process_say, (void *)program);
    exec_end_text(end, program, text, sizeof text);
    exec_process_why(process, program, text, why);
    if (!process->quiet)
        later_log("exec", end->how == EXEC_EXITED && end->code == 0 ? LATER_INFO : LATER_WARN,
                  process->jobs > 0 ? "%s: ended between two jobs: %s"
                                    : "%s: ended before its first job: %s",
                  program->name, text);
    exec_process_close(process, process->jobs > 0, why);
}

/* Has it neither said anything nor ended? */
static bool is_quiet(const struct exec_process *process)
{
    struct pollfd fds[] = { { .fd = process->child.output, .events = POLLIN },
                            { .fd = process->child.answers, .events = POLLIN },
                            { .fd = process->child.pidfd, .events = POLLIN } };

    return process->answers.begin == process->answers.end && process->child.pidfd != -1 &&
           poll(fds, 3, 0) == 0;
}

/* Cleans up a program that has ended since the last job or has performed its number of jobs. */
static void exec_lines_look_after(const struct exec_program *program)
{
    struct exec_process *process = program->process;
    struct exec_end end;

    if (!exec_process_runs(process))
        return;
    if (!is_quiet(process)) {
        exec_process_output(process, false, exec_process_say, (void *)program);
        drop_idle_lines(program);
        if (exec_process_ended(process, &end)) {
            ended_idle(program, &end);
            return;
        }
    }
    if (program->recycle && process->jobs >= program->recycle)
        exec_process_end(process, POLITE, exec_process_say, (void *)program);
}

/* Starts the program, unless it has died too recently. Returns whether it runs. */
static bool exec_lines_start(const struct exec_program *program)
{
    struct exec_process *process = program->process;
    char text[300], why[EXEC_ERROR_MAX + 1];
    struct exec_end end;

    if (exec_process_runs(process))
        return true;
    if (exec_now() < process->throttle.start_at)
        return false;
    if (exec_process_start(process, &process->throttle, program, &end) == 0)
        return true;
    exec_end_text(&end, program, text, sizeof text);
    exec_process_why(process, program, text, why);
    exec_throttle_ended(&process->throttle, exec_now(), false, why);
    return false;
}

static void end_late(const struct exec_program *program)
{
    struct exec_process *process = program->process;
    char text[300], why[EXEC_ERROR_MAX + 1];

    snprintf(text, sizeof text, "it said no hello within %lu s, and is ended", program->start_max);
    if (!process->quiet)
        later_log("exec", LATER_WARN, "%s: %s", program->name, text);
    exec_process_why(process, program, text, why);
    exec_process_end(process, 0, exec_process_say, (void *)program);
    exec_throttle_ended(&process->throttle, exec_now(), false, why);
}

bool exec_lines_ready(const struct exec_program *program)
{
    struct exec_process *process = program->process;

    exec_lines_look_after(program);
    process->looked = true;
    if (!exec_lines_start(program))
        return true;
    if (exec_process_ready(process, program))
        return true;
    if (!program->hello || !exec_process_is_late(process, program))
        return false;
    end_late(program);
    return true;
}

/* Returns whether the program can be handed the job. */
static bool await_ready(const struct talk *talk)
{
    double until = exec_now() + STARTING;

    if (talk->process->looked && exec_process_runs(talk->process) && talk->process->ready)
        return true;
    while (!exec_lines_ready(talk->program) && exec_now() < until &&
           !later_job_cancelled(talk->job))
        poll(NULL, 0, 5);
    return exec_process_runs(talk->process) && talk->process->ready;
}

static int get_ready(struct talk *talk)
{
    bool ready = await_ready(talk);

    talk->process->looked = false;
    if (!ready) {
        talk->unread = true;
        later_job_error(talk->job, "%s still starts", talk->program->name);
        return -1;
    }
    free(talk->line);
    talk->line =
        exec_answer_ask(talk->job, later_job_time_left(talk->job) - talk->grace, &talk->len);
    if (!talk->line)
        later_job_error(talk->job, "no memory for the job as a line");
    return talk->line ? 0 : -1;
}

/* Hands the job to the program. If the program had already ended, or ends before it has read
 * anything of the job, it is started once more, since that end has to do with earlier jobs. */
static void exec_lines_converse(struct talk *talk)
{
    for (int tries = 0; tries < 2; tries++) {
        talk->result = GOING;
        talk->unread = false;
        if (get_ready(talk) != 0) {
            talk->result = LATER_RETRY;
            return;
        }
        exec_term_block(&talk->term);
        exchange(talk);
        exec_term_unblock(&talk->term);
        if (!talk->unread || talk->process->throttle.failures > 0)
            return;
        talk->broken = NULL;
    }
}

enum later_result exec_lines_perform(struct later_job *job, const struct exec_program *program)
{
    struct talk talk = {
        .job = job, .program = program, .process = program->process, .result = GOING
    };

    talk.grace = later_job_time_left(job) * TERM_SHARE;
    if (talk.grace > TERM_GRACE)
        talk.grace = TERM_GRACE;
    exec_lines_converse(&talk);
    if (talk.unread) { /* not the job's fault: it is returned, and waits until the program may start
                          again */
        exec_process_give_back(&talk.process->throttle, job, 0.1);
        talk.result = LATER_RETURN;
    }
    if (talk.refused > 1)
        later_job_log(job, LATER_WARN, "refused %u lines of %s in all", talk.refused,
                      program->name);
    free(talk.line);
    free(talk.orders);
    return (enum later_result)talk.result;
}

void exec_lines_stop(void)
{
    const struct exec_program *program;

    for (size_t i = 0; (program = exec_config_at(i)); i++) {
        if (program->process)
            exec_process_close_input(program->process);
        if (program->crew)
            exec_parallel_close_inputs(program);
    }
    for (size_t i = 0; (program = exec_config_at(i)); i++) {
        if (program->process)
            exec_process_end(program->process, POLITE, exec_process_say, (void *)program);
    }
}
