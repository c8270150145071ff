/* checker.c: a child process tries a configuration. */
#include "supervisor/checker.h"

#include "plugin/plugin.h"
#include "supervisor/process.h"
#include "worker/host.h"
#include "timer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 30 /* seconds */
#define DYING    1  /* seconds: even one that cannot be killed now is not waited for any longer */
#define WORDS_FD 3  /* in the child */

struct checker {
    pid_t pid;
    int words; /* a pipe from the child */
    bool late;
    struct timer *timer;
    void (*done)(void *arg, const char *why);
    void *arg;
};

/* Loads and configures all plugins in this process. */
static int checker_load(const struct config *config, struct later_error *err)
{
    struct plugin_set *plugins = plugin_set_new();
    int ok;

    if (!plugins)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    ok = plugin_set_load(plugins, config, host_table(NULL), err);
    plugin_set_free(plugins);
    return ok;
}

static void checker_run_child(const struct config *config, int words)
{
    struct later_error err;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(words, WORDS_FD); /* dup2() clears CLOEXEC: if a plugin forks, that is its own risk */
    process_close_from(WORDS_FD + 1);
    if (checker_load(config, &err) < 0) {
        (void)!write(WORDS_FD, err.text, strlen(err.text));
        _exit(LATER_E_CONFIG);
    }
    _exit(0);
}

static void checker_on_timer(void *arg)
{
    struct checker *checker = arg;

    if (checker->late) {
        checker_ended(checker, SIGKILL);
        return;
    }
    checker->late = true;
    kill(checker->pid, SIGKILL);
    timer_in(checker->timer, DYING);
}

static int checker_start_child(struct checker *checker, const struct config *config,
                               struct later_error *err)
{
    int words[2];

    if (pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0)
        return later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
    checker->pid = process_fork();
    if (checker->pid == 0)
        checker_run_child(config, words[1]);
    close(words[1]);
    checker->words = words[0];
    if (checker->pid > 0)
        return 0;
    later_fail(err, LATER_E_SYSTEM, "fork: %s", strerror(errno));
    close(words[0]);
    return -1;
}

struct checker *checker_start(struct event_base *base, const struct config *config,
                              void (*done)(void *arg, const char *why), void *arg,
                              struct later_error *err)
{
    struct checker *checker = calloc(1, sizeof *checker);

    if (!checker || !(checker->timer = timer_new(base, checker_on_timer, checker))) {
        free(checker);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    checker->done = done;
    checker->arg = arg;
    if (checker_start_child(checker, config, err) < 0) {
        timer_free(checker->timer);
        free(checker);
        return NULL;
    }
    timer_in(checker->timer, PATIENCE);
    return checker;
}

pid_t checker_pid(const struct checker *checker)
{
    return checker->pid;
}

/* Says in words how the child ended. Returns false if all is well. */
static bool find_fault(const struct checker *checker, int status, char *why, size_t room)
{
    ssize_t got = read(checker->words, why, room - 1);

    if (checker->late)
        snprintf(why, room, "a plugin does not load within %d s", PATIENCE);
    else if (WIFSIGNALED(status))
        snprintf(why, room, "a plugin crashed while it was loaded: signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (got > 0)
        why[got] = '\0';
    else
        snprintf(why, room, "a plugin ended laterd while it was loaded: status %d",
                 WEXITSTATUS(status));
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

void checker_ended(struct checker *checker, int status)
{
    void (*done)(void *, const char *) = checker->done;
    void *arg = checker->arg;
    char why[640];
    bool bad = find_fault(checker, status, why, sizeof why);

    close(checker->words);
    timer_free(checker->timer);
    free(checker);
    done(arg, bad ? why : NULL);
}

void checker_free(struct checker *checker)
{
    if (!checker)
        return;
    kill(checker->pid, SIGKILL);
    close(checker->words);
    timer_free(checker->timer);
    free(checker);
}

int checker_try(const struct config *config, struct later_error *err)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (checker_load(config, err) == 0)
            _exit(0);
        fprintf(stderr, "laterd: %s\n", err->text);
        _exit(LATER_E_CONFIG);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return later_fail(err, LATER_E_SYSTEM, "fork: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return later_fail(err, LATER_E_CONFIG,
                          "a plugin crashed while it was loaded: signal %d (%s)", WTERMSIG(status),
                          strsignal(WTERMSIG(status)));
    err->code = LATER_E_CONFIG;
    err->text[0] = '\0';
    return WEXITSTATUS(status) == 0 ? 0 : -1;
}
