/*
 * exec_parallel.c: event jobs for long-lived programs, each of which does many at once.
 *
 * Each worker has a crew for such a program: up to `programs` peers (exec_peer.h), each with up to
 * `parallel` jobs. The peer with the fewest jobs gets the next one. laterd is told how many more
 * fit, so that a worker does not keep jobs that others could perform.
 */
#include "exec_peer.h"

#include <stdlib.h>
#include <string.h>

#define POLITE   1.0 /* seconds for a program to end once its input is closed */
#define ENDING   8   /* most programs that may be ending at a time */
#define ID_TAKEN 1.0 /* seconds to wait while a job of the same id, of another queue, is here */

struct exec_crew {
    struct exec_peer *peers;
    struct exec_throttle throttle;
};

struct exec_crew *exec_crew_new(void)
{
    return calloc(1, sizeof(struct exec_crew));
}

/* Returns how many peers take jobs. *all becomes the number of peers. */
static size_t count_peers(const struct exec_crew *crew, size_t *all)
{
    size_t open = 0;

    *all = 0;
    for (const struct exec_peer *peer = crew->peers; peer; peer = peer->next) {
        open += !peer->retired;
        ++*all;
    }
    return open;
}

static size_t room_now(const struct exec_crew *crew)
{
    size_t room = 0;

    for (struct exec_peer *peer = crew->peers; peer; peer = peer->next)
        room += exec_peer_room(peer);
    return room;
}

/* How many of them still start? */
static size_t count_starting(const struct exec_crew *crew)
{
    size_t starting = 0;

    for (struct exec_peer *peer = crew->peers; peer; peer = peer->next)
        starting += exec_peer_starts(peer);
    return starting;
}

static bool may_start(const struct exec_program *program)
{
    size_t all, open = count_peers(program->crew, &all);

    return open < program->programs && all < program->programs + ENDING;
}

/* While programs start one job comes, which waits until one is ready. If they may not start for a
 * while, jobs are given back. */
uint32_t exec_parallel_room(const struct exec_program *program)
{
    const struct exec_crew *crew = program->crew;
    size_t room = room_now(crew);

    if (room > 0)
        return (uint32_t)room;
    if (!crew->peers && exec_now() < crew->throttle.start_at)
        return (uint32_t)(program->programs * program->parallel);
    for (const struct exec_peer *peer = crew->peers; peer; peer = peer->next)
        room += !peer->retired && !peer->process->listens && peer->count < program->parallel;
    return room > 0 || may_start(program);
}

/* Returns the peer with the fewest jobs that can take a job of this id. */
static struct exec_peer *idlest(const struct exec_program *program, const char *id)
{
    struct exec_peer *best = NULL;

    for (struct exec_peer *peer = program->crew->peers; peer; peer = peer->next) {
        if (exec_peer_room(peer) > 0 && (!best || peer->count < best->count) &&
            !exec_peer_has(peer, id))
            best = peer;
    }
    return best;
}

/* Starts another program, if there may be one more. */
static void exec_parallel_start(const struct exec_program *program)
{
    struct exec_crew *crew = program->crew;
    struct exec_peer *peer;
    struct exec_end end;
    char text[300];

    if (!may_start(program) || exec_now() < crew->throttle.start_at)
        return;
    peer = exec_peer_start(program, &crew->throttle, &end);
    if (peer) {
        peer->next = crew->peers;
        crew->peers = peer;
    } else {
        exec_end_text(&end, program, text, sizeof text);
        exec_throttle_ended(&crew->throttle, exec_now(), false, text);
    }
}

bool exec_parallel_ready(const struct exec_program *program)
{
    struct exec_crew *crew = program->crew;
    size_t all;

    if (room_now(crew) > 0)
        return true;
    if (count_starting(crew) == 0)
        exec_parallel_start(program);
    return count_peers(crew, &all) == 0;
}

/* Returns a peer for a job of this id. If NULL, the job's error or the throttle says why. If all
 * are at work, another is started for the jobs to come. */
static struct exec_peer *peer_for(const struct exec_program *program, struct later_job *job)
{
    struct exec_peer *peer = idlest(program, later_job_id(job));

    if (!peer || peer->count > 0)
        exec_parallel_start(program);
    if (!peer && count_starting(program->crew) > 0)
        later_job_error(job, "%s still starts", program->name);
    else if (!peer)
        later_job_error(job, "no room in %s, or a job of the same id is there", program->name);
    return peer;
}

/* Finds a program for a task. Returns 0, or -1 with the job's error and pause set. */
static int assign(const struct exec_program *program, struct exec_task *task)
{
    struct exec_crew *crew = program->crew;
    struct exec_peer *peer = peer_for(program, task->job);

    if (peer && exec_peer_hand(peer, task) == 0)
        return 0;
    if (peer)
        later_job_error(task->job, "no memory for the job as a line");
    exec_process_give_back(&crew->throttle, task->job,
                           peer || count_starting(crew) ? 0.1 : ID_TAKEN);
    return -1;
}

enum later_result exec_parallel_perform(struct later_job *job, const struct exec_program *program)
{
    const char *id = later_job_id(job);
    struct exec_task *task = calloc(1, sizeof *task + strlen(id) + 1);

    if (!task) {
        later_job_error(job, "no memory to run %s", program->argv[0]);
        return LATER_RETURN;
    }
    task->job = job;
    strcpy(task->id, id);
    later_job_set_data(job, task);
    if (assign(program, task) == 0)
        return LATER_DEFERRED;
    exec_task_free(task);
    return LATER_RETURN;
}

void exec_parallel_cancel(struct later_job *job)
{
    exec_peer_give_up(later_job_data(job));
}

void exec_parallel_stopping(struct later_job *job)
{
    exec_peer_tell_stopping(later_job_data(job));
}

/* --- a peer's end --- */

/* The job is not at fault. It goes to another program, or is returned until one may start again. */
static void hand_on(const struct exec_program *program, struct exec_task *task)
{
    const struct exec_throttle *throttle = &program->crew->throttle;
    struct later_job *job = task->job;

    task->next = NULL;
    if (task->tries < 2 && throttle->failures == 0 && assign(program, task) == 0)
        return;
    later_job_error(job, "the program ended before it had read the job");
    exec_process_give_back(throttle, job, 0.1);
    exec_task_free(task);
    later_job_finish(job, LATER_RETURN);
}

void exec_crew_ended(struct exec_peer *peer, struct exec_task *unread, bool performed,
                     const char *why)
{
    const struct exec_program *program = peer->program;
    struct exec_crew *crew = program->crew;
    struct exec_peer **at = &crew->peers;
    struct exec_task *next;

    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    exec_throttle_ended(&crew->throttle, exec_now(), performed, why);
    exec_peer_free(peer);
    for (; unread; unread = next) {
        next = unread->next;
        hand_on(program, unread);
    }
}

void exec_parallel_close_inputs(const struct exec_program *program)
{
    for (struct exec_peer *peer = program->crew->peers; peer; peer = peer->next)
        exec_process_close_input(peer->process);
}

void exec_crew_free(const struct exec_program *program)
{
    struct exec_peer *peer, *next;
    struct exec_task *task;

    for (peer = program->crew ? program->crew->peers : NULL; peer; peer = next) {
        next = peer->next;
        exec_process_end(peer->process, POLITE, exec_process_say, (void *)program);
        while ((task = peer->first)) {
            peer->first = task->next;
            exec_task_free(task);
        }
        exec_peer_free(peer);
    }
    free(program->crew);
}
