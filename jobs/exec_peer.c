/* exec_peer.c: a long-lived program that does many jobs at once. */
#include "exec_peer.h"

#include "exec_answer.h"

#include <event2/buffer.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLITE     1.0   /* seconds for a program to end once its input is closed */
#define TERM_GRACE 2.0   /* seconds between TERM and KILL */
#define LOOK_FIRST 0.001 /* seconds between two looks at what it has read, and ... */
#define LOOK_LAST  0.016 /* ... at most */
#define ASKED      1.0   /* seconds for a program to give up a job */

enum {
    READS_MAX = 64,   /* reads per turn: more than a pipe holds */
    WRITE_MAX = 65536 /* bytes per turn: as much as a pipe holds */
};

static struct timeval seconds(double n)
{
    return (struct timeval){ (time_t)n, (suseconds_t)((n - (double)(time_t)n) * 1e6) };
}

static void exec_peer_set_timer(struct event *timer, double n)
{
    const struct timeval tv = seconds(n);

    event_add(timer, &tv);
}

/* --- tasks --- */

void exec_task_free(struct exec_task *task)
{
    if (task && task->patience)
        event_free(task->patience);
    free(task);
}

/* Returns where the tasks begin whose ids have the same hash (FNV-1a). */
static struct exec_task **exec_peer_alike(struct exec_peer *peer, const char *id)
{
    uint32_t hash = 2166136261;

    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 16777619;
    return &peer->by_id[hash % EXEC_PEER_HASH];
}

static void exec_peer_append(struct exec_peer *peer, struct exec_task *task)
{
    struct exec_task **alike = exec_peer_alike(peer, task->id);

    task->peer = peer;
    task->alike = *alike;
    *alike = task;
    task->next = NULL;
    task->before = peer->last;
    *(peer->last ? &peer->last->next : &peer->first) = task;
    peer->last = task;
    peer->count++;
    peer->open++;
}

static void take_out(struct exec_task *task)
{
    struct exec_peer *peer = task->peer;
    struct exec_task **at = exec_peer_alike(peer, task->id);

    while (*at != task)
        at = &(*at)->alike;
    *at = task->alike;
    *(task->before ? &task->before->next : &peer->first) = task->next;
    *(task->next ? &task->next->before : &peer->last) = task->before;
    task->next = task->before = NULL;
    peer->count--;
    peer->open -= task->job != NULL;
}

static struct exec_task *task_of(struct exec_peer *peer, const char *id)
{
    struct exec_task *task = *exec_peer_alike(peer, id);

    while (task && strcmp(task->id, id) != 0)
        task = task->alike;
    return task;
}

bool exec_peer_has(struct exec_peer *peer, const char *id)
{
    return task_of(peer, id) != NULL;
}

/* --- its end --- */

static void close_if_idle(struct exec_peer *peer)
{
    if (!peer->retired || peer->open > 0 || peer->closed)
        return;
    exec_process_close_input(peer->process);
    event_del(peer->input);
    peer->closed = true;
    /* A program that hangs is not waited for. */
    exec_peer_set_timer(peer->timer, peer->count > 0 ? 0 : POLITE);
}

/* Lets it take no more tasks. */
static void exec_peer_retire(struct exec_peer *peer)
{
    peer->retired = true;
    close_if_idle(peer);
}

static void exec_peer_on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct exec_peer *peer = arg;

    (void)fd, (void)what;
    if (exec_process_is_gone(peer->process)) /* on_ended() is next: its exit status says more */
        return;
    exec_process_signal(peer->process, peer->term_sent ? SIGKILL : SIGTERM);
    peer->term_sent = true;
    exec_peer_set_timer(peer->timer, TERM_GRACE);
}

static void exec_peer_broke(struct exec_peer *peer, const char *why)
{
    if (peer->broken)
        return;
    peer->broken = why;
    peer->retired = true;
    if (!peer->closed)
        exec_peer_set_timer(peer->timer, EXEC_BROKEN);
}

/* Ends a task for good. */
static void exec_peer_finish(struct exec_task *task, uint32_t result)
{
    struct later_job *job = task->job;
    struct exec_peer *peer = task->peer;

    take_out(task);
    exec_task_free(task);
    if (job)
        later_job_finish(job, (enum later_result)result);
    close_if_idle(peer);
}

/* --- what it answers --- */

static struct later_job *exec_peer_job_of(void *arg, const char *id)
{
    struct exec_task *task = task_of(arg, id);

    return task ? task->job : NULL;
}

static void exec_peer_refuse_line(struct exec_peer *peer, const char *why, const char *line)
{
    if (peer->refused++ < 10)
        later_log("exec", LATER_WARN, "%s: refused a line %s: %.100s", peer->program->name, why,
                  line);
}

static void exec_peer_take_line(struct exec_peer *peer, const char *line, bool cut)
{
    struct exec_answer answer;
    enum exec_answer_kind kind;
    struct exec_task *task;

    kind = exec_answer_read(exec_peer_job_of, peer, peer->program->name, line, cut, &answer);
    exec_process_heard(peer->process, answer.hello, answer.stops);
    switch (kind) {
    case EXEC_ANSWER_NOTE:
        return;
    case EXEC_ANSWER_REFUSED:
        task = answer.id[0] ? task_of(peer, answer.id) : NULL;
        if (task && answer.ends) /* a result for a job that was settled without it */
            exec_peer_finish(task, LATER_RETRY);
        else if (!task || task->job)
            exec_peer_refuse_line(peer, answer.why, line);
        return;
    case EXEC_ANSWER_RESULT:
        task = task_of(peer, answer.id);
        peer->process->jobs++;
        if (task->timed_out && answer.result == LATER_RETRY)
            later_job_kind(task->job, LATER_KIND_TIMEOUT);
        peer->retired = peer->retired || answer.last;
        later_job_begun(task->job);
        exec_peer_finish(task, answer.result);
        return;
    }
}

static enum exec_read exec_peer_read_answers(struct exec_peer *peer)
{
    enum exec_read got;
    char *line;
    bool cut;

    if (peer->process->child.answers == -1)
        return EXEC_READ_NONE;
    got = exec_reader_read(&peer->process->answers, peer->process->child.answers);
    while ((line = exec_reader_line(&peer->process->answers, &cut)))
        exec_peer_take_line(peer, line, cut);
    if (got == EXEC_READ_END && (line = exec_reader_rest(&peer->process->answers)) &&
        exec_answer_is_whole(line))
        exec_peer_take_line(peer, line, false);
    return got;
}

static void on_answers(evutil_socket_t fd, short what, void *arg)
{
    struct exec_peer *peer = arg;

    (void)what;
    if (exec_peer_read_answers(peer) != EXEC_READ_END)
        return;
    event_del(peer->answers);
    close(fd);
    peer->process->child.answers = -1;
    exec_peer_broke(peer, "it closed descriptor 3, where its answers go");
}

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    struct exec_peer *peer = arg;

    (void)fd, (void)what;
    exec_process_output(peer->process, false, exec_process_say, (void *)peer->program);
    if (peer->process->child.output == -1)
        event_del(peer->output);
}

/* --- what it is handed --- */

/* How many bytes has it read, since its start? */
static uint64_t bytes_read(const struct exec_peer *peer)
{
    return peer->queued - evbuffer_get_length(peer->out) - exec_process_unread(peer->process);
}

/* Limits are told of the jobs whose lines it has read. It does not say that it reads: so it is
 * looked after, as long as there are others. */
static void exec_peer_on_look(evutil_socket_t fd, short what, void *arg)
{
    struct exec_peer *peer = arg;
    uint64_t read = bytes_read(peer);
    bool others = false;

    (void)fd, (void)what;
    for (struct exec_task *task = peer->first; task; task = task->next) {
        others = others || task->end > read;
        if (task->end == 0 || task->end > read)
            continue;
        task->end = 0;
        if (task->job)
            later_job_begun(task->job);
    }
    if (others)
        exec_peer_set_timer(peer->look, peer->look_in);
    peer->look_in = peer->look_in < LOOK_LAST ? peer->look_in * 2 : LOOK_LAST;
}

static void exec_peer_look_after(struct exec_peer *peer, struct exec_task *task)
{
    if (later_job_counted(task->job) != LATER_YES)
        return;
    task->end = peer->queued;
    peer->look_in = LOOK_FIRST;
    exec_peer_set_timer(peer->look, peer->look_in);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    struct exec_peer *peer = arg;
    size_t len;
    ssize_t n = 0;

    (void)fd, (void)what;
    while ((len = evbuffer_get_length(peer->out)) > 0) {
        if (len > WRITE_MAX)
            len = WRITE_MAX;
        n = exec_process_write(peer->process,
                               (const char *)evbuffer_pullup(peer->out, (ssize_t)len), len);
        if (n <= 0)
            break;
        evbuffer_drain(peer->out, (size_t)n);
    }
    if (n < 0)
        exec_peer_broke(peer, "it closed its standard input");
    else if (evbuffer_get_length(peer->out) > 0)
        event_add(peer->input, NULL);
}

static int exec_peer_put(struct exec_peer *peer, char *line, size_t len)
{
    size_t ahead = peer->process->ahead; /* it has got so much of the line */
    int result = line && !peer->closed ? evbuffer_add(peer->out, line + ahead, len - ahead) : -1;

    free(line);
    if (result != 0)
        return -1;
    peer->process->ahead = false;
    peer->queued += len - ahead;
    /* All jobs of one turn are written together, so that the program wakes up once; and at the end
     * of this turn, without asking whether they fit, since they nearly always do. */
    event_active(peer->input, EV_WRITE, 0);
    return 0;
}

static bool has_read_all(const struct exec_peer *peer)
{
    return bytes_read(peer) == peer->queued;
}

size_t exec_peer_room(struct exec_peer *peer)
{
    struct exec_process *process = peer->process;

    if (peer->retired || peer->count >= peer->program->parallel ||
        !exec_process_ready(process, peer->program))
        return 0;
    process->listens = process->listens || (peer->jobs > 0 && has_read_all(peer));
    return process->listens ? peer->program->parallel - peer->count : peer->count == 0;
}

bool exec_peer_starts(struct exec_peer *peer)
{
    if (peer->retired || exec_process_ready(peer->process, peer->program))
        return false;
    if (exec_process_is_late(peer->process, peer->program))
        exec_peer_broke(peer, "it said no hello in time: start_max");
    return !peer->retired;
}

int exec_peer_hand(struct exec_peer *peer, struct exec_task *task)
{
    uint64_t begin = peer->queued;
    size_t len = 0;
    char *line = exec_answer_ask(task->job, later_job_time_left(task->job), &len);

    if (exec_peer_put(peer, line, len) != 0)
        return -1;
    task->begin = begin;
    task->end = 0;
    exec_peer_append(peer, task);
    exec_peer_look_after(peer, task);
    peer->jobs++;
    if (peer->program->recycle && peer->jobs >= peer->program->recycle)
        exec_peer_retire(peer);
    return 0;
}

/* --- giving up --- */

/* The program did not give up the job. The job is settled, its place stays taken, and the program
 * has to end. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct exec_task *task = arg;
    struct exec_peer *peer = task->peer;
    struct later_job *job = task->job;

    (void)fd, (void)what;
    if (task->timed_out)
        later_job_kind(job, LATER_KIND_TIMEOUT);
    /* What the program has printed last is of another job as like as not. */
    later_job_error(job, task->timed_out ? "timed out" : "cancelled");
    task->job = NULL;
    peer->open--;
    later_job_finish(job, LATER_RETRY);
    if (!peer->retired)
        later_log("exec", LATER_WARN,
                  "%s: did not give up job %s within a second: another is started, this one ends "
                  "with its other jobs",
                  peer->program->name, task->id);
    exec_peer_retire(peer);
}

void exec_peer_give_up(struct exec_task *task)
{
    size_t len = 0;
    char *line = exec_answer_order(task->job, "cancel", &len);

    task->timed_out = later_job_time_left(task->job) <= 0.1; /* the timer may fire a little early */
    exec_peer_put(task->peer, line, len);
    if (!task->patience)
        task->patience = evtimer_new(later_event_base(), on_patience, task);
    if (task->patience)
        exec_peer_set_timer(task->patience, ASKED);
}

void exec_peer_tell_stopping(struct exec_task *task)
{
    size_t len = 0;
    char *line = task->peer->process->stops ? exec_answer_order(task->job, "stopping", &len) : NULL;

    if (line)
        exec_peer_put(task->peer, line, len);
}

/* --- the program --- */

static void exec_peer_charge(struct exec_task *task, const char *reason,
                             const struct exec_output *tail)
{
    if (task->job) {
        exec_output_fail(task->job, reason, tail);
        later_job_kind(task->job, task->timed_out ? LATER_KIND_TIMEOUT : LATER_KIND_CRASH);
    }
    exec_peer_finish(task, LATER_RETRY);
}

/* Fails the tasks that the program had begun to read, and returns a list of the others. */
static struct exec_task *share_out(struct exec_peer *peer, const char *reason, uint64_t read)
{
    struct exec_task *unread = NULL, **end = &unread, *task;

    peer->retired = peer->closed = true;
    while ((task = peer->first)) {
        if (!task->job || task->begin < read) {
            exec_peer_charge(task, reason, &peer->process->tail);
            continue;
        }
        take_out(task);
        task->tries++;
        *end = task;
        end = &task->next;
    }
    return unread;
}

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    struct exec_peer *peer = arg;
    struct exec_task *unread;
    struct exec_end end;
    uint64_t read;
    char reason[400], why[EXEC_ERROR_MAX + 1];
    bool performed;

    (void)fd, (void)what;
    if (!exec_process_ended(peer->process, &end)) {
        if (peer->process->child.pidfd == -1) /* its end is only noticed by checking */
            exec_peer_set_timer(peer->ended, 0.02);
        return;
    }
    read = bytes_read(peer);
    for (int i = 0; i < READS_MAX && exec_peer_read_answers(peer) == EXEC_READ_SOME; i++)
        ; /* it may have answered before it ended */
    exec_process_output(peer->process, true, exec_process_say, (void *)peer->program);
    exec_broken_text(&end, peer->program, peer->broken, peer->term_sent, reason, sizeof reason);
    if (!peer->closed && peer->open == 0 && !peer->process->quiet)
        later_log("exec", end.how == EXEC_EXITED && end.code == 0 ? LATER_INFO : LATER_WARN,
                  "%s: %s", peer->program->name, reason);
    performed = peer->process->jobs > 0 || peer->closed;
    if (end.how == EXEC_FAILED)
        read = 0;
    exec_process_why(peer->process, peer->program, reason, why);
    unread = share_out(peer, reason, read);
    exec_crew_ended(peer, unread, performed, why);
}

void exec_peer_free(struct exec_peer *peer)
{
    struct event *events[] = { peer->input, peer->output, peer->answers,
                               peer->ended, peer->timer,  peer->look };

    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i])
            event_free(events[i]);
    }
    if (peer->out)
        evbuffer_free(peer->out);
    if (peer->process)
        exec_child_close(&peer->process->child);
    exec_process_free(peer->process);
    free(peer);
}

static int listen_to(struct exec_peer *peer)
{
    const struct exec_child *child = &peer->process->child;
    struct event_base *base = later_event_base();

    peer->input = event_new(base, child->input, EV_WRITE, on_input, peer);
    peer->output = event_new(base, child->output, EV_READ | EV_PERSIST, on_output, peer);
    peer->answers = event_new(base, child->answers, EV_READ | EV_PERSIST, on_answers, peer);
    peer->ended = event_new(base, child->pidfd, child->pidfd == -1 ? 0 : EV_READ, on_ended, peer);
    peer->timer = evtimer_new(base, exec_peer_on_timer, peer);
    peer->look = evtimer_new(base, exec_peer_on_look, peer);
    if (!peer->input || !peer->output || !peer->answers || !peer->ended || !peer->timer ||
        !peer->look || event_add(peer->output, NULL) != 0 || event_add(peer->answers, NULL) != 0)
        return -1;
    if (child->pidfd == -1)
        exec_peer_set_timer(peer->ended, 0.02);
    else if (event_add(peer->ended, NULL) != 0)
        return -1;
    return 0;
}

struct exec_peer *exec_peer_start(const struct exec_program *program,
                                  struct exec_throttle *throttle, struct exec_end *end)
{
    struct exec_peer *peer = calloc(1, sizeof *peer);

    *end = (struct exec_end){ .how = EXEC_FAILED, .code = ENOMEM, .step = "be started" };
    if (!peer)
        return NULL;
    peer->program = program;
    peer->process = exec_process_new();
    peer->out = evbuffer_new();
    if (peer->process && peer->out &&
        exec_process_start(peer->process, throttle, program, end) == 0) {
        peer->queued = peer->process->ahead;
        if (listen_to(peer) == 0)
            return peer;
        exec_process_end(peer->process, 0, exec_process_say, (void *)program);
        *end = (struct exec_end){ .how = EXEC_FAILED, .code = ENOMEM, .step = "be listened to" };
    }
    exec_peer_free(peer);
    return NULL;
}
