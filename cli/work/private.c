/* private.c: a laterd for `later work`. */
#include "work/private.h"

#include "sizes.h"
#include "work/child.h"

#include <ftw.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_EVERY   200 /* milliseconds between two looks whether something is left */
#define EMPTY_LOOKS  2   /* in a row; what a job pushed as it ended may be on its way to ready */
#define FOLDER_DEPTH 8   /* descriptors for the folders that laterd leaves in its state_dir */

/* --- its folder --- */

static int private_make_folder(struct private_laterd *own, struct later_error *err)
{
    const char *top = getenv("TMPDIR");

    snprintf(own->folder, sizeof own->folder, "%.3000s/later-work-XXXXXX",
             top && *top == '/' ? top : "/tmp");
    if (mkdtemp(own->folder))
        return 0;
    later_fail(err, LATER_E_SYSTEM, "%.300s: %s", own->folder, strerror(errno));
    own->folder[0] = '\0';
    return -1;
}

static int private_remove_one(const char *path, const struct stat *status, int what,
                              struct FTW *level)
{
    (void)status;
    (void)what;
    (void)level;
    (void)remove(path); /* the others go all the same */
    return 0;
}

/* Removes the folder with all that is in it; links are not followed. */
static void private_remove_folder(const struct private_laterd *own)
{
    if (*own->folder)
        nftw(own->folder, private_remove_one, FOLDER_DEPTH, FTW_DEPTH | FTW_PHYS);
}

/* --- laterd --- */

/* The mask stays until the end. child_start() clears it for laterd. */
static int private_catch_signals(struct private_laterd *own, struct later_error *err)
{
    struct sigaction hangup;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP); /* otherwise we were started by nohup(1) */
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    own->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return own->signals >= 0 ? 0 : later_fail(err, LATER_E_SYSTEM, "signalfd: %s", strerror(errno));
}

static int private_start(struct private_laterd *own, struct later_error *err)
{
    static const struct child_variable none = { 0 };
    char path[PATH_MAX], *words[] = { own->files.laterd, "-c", path, NULL };

    private_config_path(own, "laterd.conf", path);
    own->laterd = child_start(words, &none, err);
    return own->laterd < 0 ? -1 : 0;
}

/* The first signal tells laterd to stop, and jobs under way may end. Each further one is for those
 * that wait too long for them. */
static void private_hear(struct private_laterd *own)
{
    struct signalfd_siginfo heard;

    while (read(own->signals, &heard, sizeof heard) == (ssize_t)sizeof heard) {
        if (heard.ssi_signo == SIGCHLD)
            continue;
        if (!own->stopping)
            cli_say(own->cli, "stopping: what runs may finish; another signal gives it back");
        kill(own->laterd, own->stopping ? SIGQUIT : SIGTERM);
        own->stopping = true;
    }
}

/* Is nothing ready and nothing running? What is ready in a paused queue is not waited for. While
 * Redis is away, that is not known. */
static bool private_is_empty(const struct private_laterd *own)
{
    struct later_sizes sizes;
    struct later_error ignored;
    struct whole whole;

    for (int i = 0; i < own->cli->args.count; i++) {
        if (whole_find(own->cli, own->cli->args.words[i], &whole, &ignored) < 0 ||
            sizes_whole(own->cli, &whole, &sizes, &ignored) < 0 || sizes.reserved > 0 ||
            (sizes.ready > 0 && !sizes.paused))
            return false;
    }
    return true;
}

/* Waits until laterd has ended, and returns its exit status. */
static int private_wait(struct private_laterd *own)
{
    struct pollfd signals = { .fd = own->signals, .events = POLLIN };
    bool looks = args_flag(&own->cli->args, "until-empty");
    int status, empty = 0;
    pid_t ended;

    while ((ended = waitpid(own->laterd, &status, WNOHANG)) == 0) {
        if (poll(&signals, 1, looks ? LOOK_EVERY : -1) > 0) {
            private_hear(own);
        } else if (looks) {
            empty = private_is_empty(own) ? empty + 1 : 0;
            looks = empty < EMPTY_LOOKS;
            if (!looks)
                kill(own->laterd, SIGTERM);
        }
    }
    return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : LATER_E_SYSTEM;
}

/* Names and server are tried first, so that what is wrong with them is said in one line. */
static int private_try(struct private_laterd *own, struct later_error *err)
{
    struct later_keys keys;

    for (int i = 0; i < own->cli->args.count; i++) {
        if (cli_keys(own->cli, own->cli->args.words[i], &keys, err) < 0)
            return -1;
    }
    return cli_ping(own->cli, err);
}

int private_run(struct private_laterd *own, struct later_error *err)
{
    int status = -1;

    if (private_try(own, err) == 0 && private_catch_signals(own, err) == 0 &&
        private_make_folder(own, err) == 0 && private_config_write(own, err) == 0 &&
        private_start(own, err) == 0)
        status = private_wait(own);
    private_remove_folder(own);
    if (own->signals >= 0)
        close(own->signals);
    return status;
}
