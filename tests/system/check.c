/*
 * check.c: the plugin of the system tests. It notes what it runs, and misbehaves on command.
 *
 * plugins.config.check.dir names a folder. Each attempt adds a line to two files in it, with one
 * write each. Times are UNIX seconds of the clock that a Redis on this machine reads too:
 *     begun   id attempt token start pid
 *     ended   id attempt token start end pid
 *
 * Types:
 *     note    nothing else
 *     bytes   its payload goes into the file bytes-ID
 *     do      payload {"do": WORD, …}: the table at the end; once its attempt is above "upto", or
 *             with an unknown word, it just succeeds
 *     event   the same for event jobs: check_event.c
 * `sleep`, `signal`, `lock`, `progress`, `checkpoint` and event jobs with "until": NAME end when
 * the folder has a file of this name, so that a test can look at them as long as it needs.
 *
 * With a file `refuse` in the folder, the plugin does not start. With `hang`, its start takes a
 * minute. With `first`, it starts in one worker; others wait for `refuse`.
 *
 * With $CHECK_LOAD it crashes as soon as it is loaded (`crash`), or its load waits for a file of
 * this name.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char dir[512];
static int begun_fd = -1, ended_fd = -1;

__attribute__((constructor)) static void on_load(void)
{
    const char *how = getenv("CHECK_LOAD");

    if (how && strcmp(how, "crash") == 0)
        abort();
    while (how && *how == '/' && access(how, F_OK) < 0)
        check_sleep(0.01);
}

/* --- records --- */

double check_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void add_line(int fd, const struct later_job *job, double start, double end)
{
    char line[512], last[32] = "";
    int len;

    if (end > 0)
        snprintf(last, sizeof last, " %.6f", end);
    len = snprintf(line, sizeof line, "%s %u %s %.6f%s %d\n", later_job_id(job),
                   (unsigned)later_job_attempt(job), later_job_token(job), start, last,
                   (int)getpid());
    if (len < 0 || (size_t)len >= sizeof line || write(fd, line, (size_t)len) != len)
        later_job_log(job, LATER_ERROR, "the record is not written: %s", strerror(errno));
}

double check_begin(const struct later_job *job)
{
    double start = check_now();

    add_line(begun_fd, job, start, 0);
    return start;
}

void check_end(const struct later_job *job, double start)
{
    add_line(ended_fd, job, start, check_now());
}

/* Writes a file of its own into the folder. Whoever finds it there finds all of it. */
static void write_file(const char *kind, const char *name, const void *bytes, size_t len)
{
    char path[800], draft[600];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s-%s", dir, kind, name);
    snprintf(draft, sizeof draft, "%s/.draft-%d", dir, (int)getpid());
    file = fopen(draft, "we");
    if (file)
        fwrite(bytes, 1, len, file);
    if (!file || fclose(file) != 0 || rename(draft, path) < 0)
        later_log("check", LATER_ERROR, "%s: %s", path, strerror(errno));
}

/* Adds a line to the file steps-NAME. */
static void add_step(const char *name, const char *line)
{
    char path[800];
    FILE *file;

    snprintf(path, sizeof path, "%s/steps-%s", dir, name);
    file = fopen(path, "ae");
    if (!file || fputs(line, file) < 0 || fclose(file) != 0)
        later_log("check", LATER_ERROR, "%s: %s", path, strerror(errno));
}

/* --- words --- */

/* A signal that does not end us does not cut the sleep short. */
void check_sleep(double seconds)
{
    struct timespec rest = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

    while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
        ;
}

static bool is_there(const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

bool check_may_end(const json_t *what)
{
    const char *name = later_json_string(what, "until", NULL);

    return !name || is_there(name);
}

static enum later_result do_done(struct later_job *job, const json_t *what)
{
    (void)job;
    (void)what;
    return LATER_DONE;
}

static enum later_result do_retry(struct later_job *job, const json_t *what)
{
    double in = later_json_number(what, "in", -1);

    later_job_error(job, "%s", later_json_string(what, "text", "told to fail"));
    if (in >= 0)
        later_job_retry_in(job, in);
    return LATER_RETRY;
}

static enum later_result do_bury(struct later_job *job, const json_t *what)
{
    later_job_error(job, "%s", later_json_string(what, "text", "told to give up"));
    check_sleep(later_json_number(what, "for", 0));
    return LATER_BURY;
}

static enum later_result do_odd(struct later_job *job, const json_t *what)
{
    (void)job;
    (void)what;
    return (enum later_result)99;
}

static enum later_result do_sleep(struct later_job *job, const json_t *what)
{
    (void)job;
    check_sleep(later_json_number(what, "for", json_object_get(what, "until") ? 0 : 1));
    while (!check_may_end(what))
        check_sleep(0.01);
    return LATER_DONE;
}

/* Sends itself a signal, with its default action. No core is written. */
static enum later_result do_signal(struct later_job *job, const json_t *what)
{
    int number = (int)later_json_number(what, "signal", SIGSEGV);
    const struct rlimit none = { 0, 0 };

    (void)job;
    while (!check_may_end(what))
        check_sleep(0.01);
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    raise(number);
    return LATER_DONE;
}

static enum later_result do_exit(struct later_job *job, const json_t *what)
{
    (void)job;
    exit((int)later_json_number(what, "status", 0));
}

static void block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Ignores everything that can be blocked, and waits. */
static enum later_result do_hang(struct later_job *job, const json_t *what)
{
    volatile bool forever = true;

    (void)job;
    (void)what;
    block_all();
    while (forever)
        check_sleep(1);
    return LATER_DONE;
}

/* The same, and stays busy. */
static enum later_result do_spin(struct later_job *job, const json_t *what)
{
    volatile bool forever = true;

    (void)job;
    (void)what;
    block_all();
    while (forever)
        ;
    return LATER_DONE;
}

/* Claims one of `item` for `who`, and takes `for` seconds. With `die`, attempts up to that number
 * note the answer and the claim's number, and then kill themselves: after the claim, before the
 * ack. */
static enum later_result do_claim(struct later_job *job, const json_t *what)
{
    uint64_t number = 0;
    int answer = later_stock_claim(job, later_json_string(what, "item", ""),
                                   later_json_string(what, "who", ""), &number);
    char name[300], text[64];

    snprintf(name, sizeof name, "%s-%u", later_job_id(job), (unsigned)later_job_attempt(job));
    snprintf(text, sizeof text, "%s %" PRIu64 "\n",
             answer == LATER_YES      ? "claimed"
             : answer == LATER_EXISTS ? "claimed before"
             : answer == LATER_NO     ? "sold out"
                                      : "failed",
             number);
    if (later_json_number(what, "die", -1) >= 0)
        write_file("claim", name, text, strlen(text));
    check_sleep(later_json_number(what, "for", 0));
    if (later_job_attempt(job) <= later_json_number(what, "die", 0))
        kill(getpid(), SIGKILL);
    return answer == LATER_FAILED ? LATER_RETRY : LATER_DONE;
}

/* Goes on when asked to end. Its children leave the process group. */
static enum later_result do_orphan(struct later_job *job, const json_t *what)
{
    char pid[16];
    pid_t child = fork();

    if (child == 0) {
        setsid();
        if (fork() == 0) {
            snprintf(pid, sizeof pid, "%d", (int)getpid());
            write_file("orphan", later_job_id(job), pid, strlen(pid));
            check_sleep(60);
        }
        _exit(0);
    }
    check_sleep(later_json_number(what, "for", 0));
    return child > 0 ? LATER_DONE : LATER_RETRY;
}

static enum later_result do_leak(struct later_job *job, const json_t *what)
{
    size_t size = (size_t)later_json_number(what, "bytes", 1e7);
    char *lost = malloc(size);

    (void)job;
    if (!lost)
        return LATER_RETRY;
    memset(lost, 1, size);
    return LATER_DONE;
}

static enum later_result do_close(struct later_job *job, const json_t *what)
{
    (void)job;
    (void)what;
    syscall(SYS_close_range, 3U, ~0U, 0U); /* musl has no function for it */
    return LATER_DONE;
}

static enum later_result do_wander(struct later_job *job, const json_t *what)
{
    (void)job;
    (void)what;
    setlocale(LC_ALL, "de_DE.UTF-8");
    umask(0777);
    return chdir("/") == 0 ? LATER_DONE : LATER_RETRY;
}

/* Logs its text, and also returns it as its error. */
static enum later_result do_log(struct later_job *job, const json_t *what)
{
    later_job_log(job, LATER_WARN, "%s", later_json_string(what, "text", ""));
    return do_retry(job, what);
}

/* Takes the lock "name", waits for "until"; the file lock-ID gets the answers: lock, fencing
 * number, and after unlock: unlock, fence again. */
static enum later_result do_lock(struct later_job *job, const json_t *what)
{
    const char *name = later_json_string(what, "name", "lock");
    uint64_t number = 0;
    char words[80];
    int locked = later_lock(job, name, 10, later_json_number(what, "wait", 0));
    int unlocked;

    later_lock_fence(job, name, &number);
    while (!check_may_end(what))
        check_sleep(0.01);
    unlocked = later_unlock(job, name);
    snprintf(words, sizeof words, "%d %u %d %d\n", locked, (unsigned)number, unlocked,
             later_lock_fence(job, name, &number));
    write_file("lock", later_job_id(job), words, strlen(words));
    return LATER_DONE;
}

/* Asks a limit of 2 three times, and one with a bad name; the file limit-ID gets the answers. */
static enum later_result do_limit(struct later_job *job, const json_t *what)
{
    const char *name = later_json_string(what, "name", "limit");
    int answers[4];
    char words[80];

    for (int i = 0; i < 3; i++)
        answers[i] = later_limit(job, name, 2, 60, 1);
    answers[3] = later_limit(job, "no { good", 2, 60, 1);
    snprintf(words, sizeof words, "%d %d %d %d\n", answers[0], answers[1], answers[2], answers[3]);
    write_file("limit", later_job_id(job), words, strlen(words));
    return LATER_DONE;
}

/* The slot page of this worker: where, how long, in which file. */
static char *own_page(size_t *size, char file[512])
{
    unsigned long from = 0, to = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[600];

    while (maps && fgets(line, sizeof line, maps)) {
        if (strstr(line, "/slots/") &&
            sscanf(line, "%lx-%lx %*s %*s %*s %*s %511s", &from, &to, file) == 3)
            break;
        from = to = 0;
    }
    if (maps)
        fclose(maps);
    *size = to - from;
    return (char *)from;
}

/* Stops the process "redis" for "for" seconds, since the test is about what waits for Redis.
 * Then it overwrites its worker's slot page, or with "cut" truncates the file, and stays for a
 * second. */
static enum later_result do_spoil(struct later_job *job, const json_t *what)
{
    int redis = (int)later_json_number(what, "redis", 0);
    char file[512] = "";
    size_t size;
    char *page = own_page(&size, file);

    (void)job;
    if (redis > 0)
        kill(redis, SIGSTOP);
    check_sleep(later_json_number(what, "for", 0));
    if (later_json_number(what, "cut", 0) > 0)
        (void)!truncate(file, 0);
    else if (page)
        memset(page, 'A', size);
    if (redis > 0)
        kill(redis, SIGCONT);
    check_sleep(1);
    return LATER_RETRY;
}

/* Returns `value`, any JSON, or a string of this many `bytes` with its quotes. Notes the answer. */
static enum later_result do_value(struct later_job *job, const json_t *what)
{
    size_t bytes = (size_t)later_json_number(what, "bytes", 0);
    const json_t *value = json_object_get(what, "value");
    char *text = bytes > 1 ? malloc(bytes + 1) : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    char words[32];
    int answer;

    if (!text)
        return LATER_RETRY;
    if (bytes > 1) {
        memset(text, 'v', bytes);
        text[0] = text[bytes - 1] = '"';
        text[bytes] = '\0';
    }
    answer = later_job_value(job, text, 0);
    snprintf(words, sizeof words, "%d%s", answer,
             (later_job_wanted(job) == LATER_NO) == (answer == LATER_NO) ? "" : " is not wanted");
    write_file("value", later_job_id(job), words, strlen(words));
    free(text);
    check_sleep(later_json_number(what, "for", 0));
    return LATER_DONE;
}

/* Reports progress for `for` seconds, ten times a second and often in between. Then it retries if
 * told to. */
static enum later_result do_progress(struct later_job *job, const json_t *what)
{
    int steps = (int)(later_json_number(what, "for", 0) * 10);

    for (int i = 1; i <= steps && !later_job_cancelled(job); i++) {
        for (int k = 0; k < 100; k++)
            later_job_progress(job, i - 1 + k / 100.0, steps, "between");
        later_job_progress(job, i, steps, later_json_string(what, "text", NULL));
        check_sleep(0.1);
    }
    while (!check_may_end(what) && !later_job_cancelled(job))
        check_sleep(0.01);
    return later_json_number(what, "in", -1) >= 0 ? do_retry(job, what) : LATER_DONE;
}

/* Logs `text` and a number, `lines` times; at `slow` it waits until the file `until` is there. Then
 * it is killed by the signal `kill` in its first attempt, or retries or is done, as it is told. */
static enum later_result do_talk(struct later_job *job, const json_t *what)
{
    int lines = (int)later_json_number(what, "lines", 1);
    int slow = (int)later_json_number(what, "slow", 0);
    const char *text = later_json_string(what, "text", "line");

    for (int i = 1; i <= lines; i++) {
        later_job_log(job, i % 2 ? LATER_INFO : LATER_DEBUG, "%s %d", text, i);
        while (i == slow && !check_may_end(what) && !later_job_cancelled(job))
            check_sleep(0.01);
    }
    if (later_json_number(what, "kill", 0) > 0 && later_job_attempt(job) == 1)
        raise((int)later_json_number(what, "kill", 0));
    return later_json_number(what, "in", -1) >= 0 ? do_retry(job, what) : LATER_DONE;
}

/* Goes on from the number at which an earlier attempt has stopped, up to `steps`: for each one it
 * sleeps `for` seconds, leaves the number as a checkpoint and adds it to the file steps-ID. At
 * `stop` it waits until the file `until` is there; then its first attempt is killed by the signal
 * `kill`, or retries, if told to. When laterd stops it gives the job back, unless it is told to
 * `stay`. */
static enum later_result do_checkpoint(struct later_job *job, const json_t *what)
{
    int steps = (int)later_json_number(what, "steps", 1);
    int stop = (int)later_json_number(what, "stop", 0);
    int signal = (int)later_json_number(what, "kill", 0);
    size_t len = 0;
    const char *from = later_job_resumes(job, &len);
    char words[16];

    for (int i = from ? atoi(from) + 1 : 1; i <= steps; i++) {
        check_sleep(later_json_number(what, "for", 0));
        snprintf(words, sizeof words, "%d\n", i);
        later_job_checkpoint(job, words, strlen(words) - 1);
        add_step(later_job_id(job), words);
        while (i == stop && !check_may_end(what) && !later_job_cancelled(job) &&
               !later_job_stopping(job))
            check_sleep(0.01);
        if (i == stop && later_job_attempt(job) == 1 && signal)
            raise(signal);
        if (i == stop && later_job_attempt(job) == 1 && json_object_get(what, "in"))
            return do_retry(job, what);
        if (later_job_stopping(job) && !json_object_get(what, "stay")) {
            later_job_retry_in(job, 0);
            return LATER_RETURN;
        }
    }
    return LATER_DONE;
}

/* Adds a job to its own flow, and writes what that answered. */
static enum later_result do_add(struct later_job *job, const json_t *what)
{
    struct later_push_job more = { .size = sizeof more,
                                   .type = "note",
                                   .flow = later_json_string(what, "flow", NULL),
                                   .step = later_json_string(what, "step", NULL),
                                   .after = later_json_string(what, "after", NULL),
                                   .when = later_json_string(what, "when", NULL),
                                   .queue = later_json_string(what, "queue", NULL) };
    char answer[8];

    snprintf(answer, sizeof answer, "%d", later_push(job, &more));
    write_file("added", later_job_id(job), answer, strlen(answer));
    return LATER_DONE;
}

/* The file values-ID gets what it has waited for gave back: of a, all, counts. */
static enum later_result do_values(struct later_job *job, const json_t *what)
{
    size_t len = 0, all_len = 0, flow_len = 0;
    const char *a = later_job_value_of(job, "a", &len), *all = later_job_values(job, &all_len);
    const char *flow = later_job_flow(job, &flow_len);
    char *words = NULL;
    int written = asprintf(&words, "%.*s\n%.*s\n%.*s\n", (int)len, a ? a : "", (int)all_len,
                           all ? all : "", (int)flow_len, flow ? flow : "");

    if (written > 0)
        write_file("values", later_job_id(job), words, (size_t)written);
    free(words);
    return later_json_number(what, "in", -1) >= 0 ? do_retry(job, what) : do_sleep(job, what);
}

static const struct {
    const char *word;
    enum later_result (*fn)(struct later_job *job, const json_t *what);
} words[] = {
    { "bury", do_bury },   { "claim", do_claim },   { "close", do_close },
    { "exit", do_exit },   { "hang", do_hang },     { "leak", do_leak },
    { "limit", do_limit }, { "lock", do_lock },     { "log", do_log },
    { "odd", do_odd },     { "orphan", do_orphan }, { "retry", do_retry },
    { "sleep", do_sleep }, { "signal", do_signal }, { "spoil", do_spoil },
    { "value", do_value }, { "wander", do_wander }, { "progress", do_progress },
    { "add", do_add },     { "values", do_values }, { "checkpoint", do_checkpoint },
    { "talk", do_talk },   { "spin", do_spin },
};

/* --- types --- */

static enum later_result note(struct later_job *job)
{
    double start = check_begin(job);

    check_end(job, start);
    return LATER_DONE;
}

static enum later_result bytes(struct later_job *job)
{
    double start = check_begin(job);
    size_t len;
    const char *payload = later_job_payload(job, &len);

    write_file("bytes", later_job_id(job), payload, len);
    check_end(job, start);
    return LATER_DONE;
}

static enum later_result perform(struct later_job *job)
{
    enum later_result (*fn)(struct later_job *, const json_t *) = do_done;
    double start = check_begin(job);
    json_t *what = later_job_json(job, NULL);
    const char *word = later_json_string(what, "do", "done");
    enum later_result result;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) == 0)
            fn = words[i].fn;
    }
    if (later_job_attempt(job) > later_json_number(what, "upto", 1e9))
        fn = do_done;
    result = fn(job, what);
    json_decref(what);
    check_end(job, start);
    return result;
}

static int config(const char *key, const char *value, char *err, size_t n)
{
    if (strcmp(key, "dir") != 0) {
        snprintf(err, n, "unknown; check knows dir");
        return -1;
    }
    snprintf(dir, sizeof dir, "%s", value);
    return 0;
}

static int open_record(const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* Of the workers that start beside each other. */
static bool is_first(void)
{
    static bool first;
    char path[600];

    snprintf(path, sizeof path, "%s/first-started", dir);
    first = first || mkdir(path, 0700) == 0;
    return first;
}

static int start(char *err, size_t n)
{
    if (is_there("hang"))
        check_sleep(60);
    while (is_there("first") && !is_first() && !is_there("refuse"))
        check_sleep(0.01);
    if (is_there("refuse")) {
        snprintf(err, n, "told to refuse");
        return -1;
    }
    begun_fd = open_record("begun");
    ended_fd = open_record("ended");
    if (begun_fd >= 0 && ended_fd >= 0)
        return 0;
    snprintf(err, n, "check.dir: %s: %s", dir, strerror(errno));
    return -1;
}

static const struct later_type types[] = {
    { .name = "note", .perform = note },
    { .name = "bytes", .perform = bytes },
    { .name = "do", .perform = perform },
    { .name = "event", .mode = LATER_EVENT, .perform = check_event, .cancel = check_cancel },
    { 0 }
};

LATER_PLUGIN(.name = "check", .version = "1", .types = types, .config = config, .start = start);
