/* checker.c: a child tries a configuration. */
#include "supervisor/checker.h"

#include "log.h"
#include "worker/worker.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 30 /* seconds */

struct checker {
    pid_t pid;
    struct event *timer;
    void (*done)(void *arg, bool good);
    void *arg;
};

int checker_load(const struct config *config, struct later_error *err)
{
    struct plugin_set *plugins = plugin_set_new();
    int ok;

    if (!plugins)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    ok = plugin_set_load(plugins, config, host_table(NULL), err);
    plugin_set_free(plugins);
    return ok;
}

static void run_child(const struct config *config)
{
    struct later_error err;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    close_range(3, ~0U, 0);
    if (checker_load(config, &err) < 0) {
        log_line(LOG_ERROR, "%s", err.text);
        _exit(LATER_E_CONFIG);
    }
    _exit(0);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct checker *checker = arg;

    (void)fd;
    (void)what;
    log_line(LOG_ERROR, "a plugin does not load within %d s", PATIENCE);
    kill(checker->pid, SIGKILL);
}

struct checker *checker_start(struct event_base *base, const struct config *config,
                              void (*done)(void *arg, bool good), void *arg,
                              struct later_error *err)
{
    struct checker *checker = calloc(1, sizeof *checker);

    if (!checker || !(checker->timer = evtimer_new(base, on_timer, checker))) {
        free(checker);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    checker->done = done;
    checker->arg = arg;
    checker->pid = fork();
    if (checker->pid == 0)
        run_child(config);
    if (checker->pid < 0) {
        later_fail(err, LATER_E_SYSTEM, "fork: %s", strerror(errno));
        event_free(checker->timer);
        free(checker);
        return NULL;
    }
    event_add(checker->timer, &(struct timeval){ PATIENCE, 0 });
    return checker;
}

pid_t checker_pid(const struct checker *checker)
{
    return checker->pid;
}

void checker_ended(struct checker *checker, int status)
{
    void (*done)(void *, bool) = checker->done;
    void *arg = checker->arg;

    if (WIFSIGNALED(status))
        log_line(LOG_ERROR, "a plugin crashed while it was loaded: signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    event_free(checker->timer);
    free(checker);
    done(arg, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void checker_free(struct checker *checker)
{
    if (!checker)
        return;
    kill(checker->pid, SIGKILL);
    event_free(checker->timer);
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
