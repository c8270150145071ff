/* private.c: `later work --lines`. */
#include "work/private.h"

#include "sizes.h"
#include "work/child.h"
#include "work/hello.h"
#include "work/private_config.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARALLEL_MAX 10000
#define PROGRAMS_MAX 64
#define LOOK_EVERY   200 /* milliseconds between two looks whether something is left */
#define FOLDER_DEPTH 8   /* of what laterd leaves in its state_dir */

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

/* Removes a folder with all that is in it; links are not followed. */
static void private_remove(const char *path, unsigned depth)
{
    DIR *folder = depth > 0 ? opendir(path) : NULL;
    char inner[PATH_MAX];
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%.3000s/%s", path, entry->d_name);
        if (unlink(inner) < 0)
            private_remove(inner, depth - 1);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* --- laterd --- */

static int private_catch_signals(struct private_laterd *own, struct later_error *err)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
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
    own->laterd = child_start(words, &none, NULL, 0, err);
    return own->laterd < 0 ? -1 : 0;
}

/* A signal of ours tells laterd to stop; its jobs under way may end. */
static void private_hear(const struct private_laterd *own)
{
    struct signalfd_siginfo heard;

    while (read(own->signals, &heard, sizeof heard) == (ssize_t)sizeof heard) {
        if (heard.ssi_signo != SIGCHLD)
            kill(own->laterd, SIGTERM);
    }
}

/* Is nothing ready and nothing running? While Redis is away, that is not known. */
static bool private_is_empty(const struct private_laterd *own)
{
    struct later_sizes sizes;
    struct later_error ignored;
    struct whole whole;

    for (int i = 0; i < own->cli->args.count; i++) {
        if (whole_find(own->cli, own->cli->args.words[i], &whole, &ignored) < 0 ||
            sizes_whole(own->cli, &whole, &sizes, &ignored) < 0 || sizes.ready + sizes.reserved > 0)
            return false;
    }
    return true;
}

/* Waits until laterd has ended, and returns its exit status. */
static int private_wait(const struct private_laterd *own)
{
    struct pollfd signals = { .fd = own->signals, .events = POLLIN };
    bool looks = args_flag(&own->cli->args, "until-empty");
    int status;
    pid_t ended;

    while ((ended = waitpid(own->laterd, &status, WNOHANG)) == 0) {
        if (poll(&signals, 1, looks ? LOOK_EVERY : -1) > 0) {
            private_hear(own);
        } else if (looks && private_is_empty(own)) {
            kill(own->laterd, SIGTERM);
            looks = false;
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

/* Runs laterd from a folder of its own. */
static int private_work(struct private_laterd *own, struct later_error *err)
{
    int status = -1;

    if (private_try(own, err) == 0 && private_catch_signals(own, err) == 0 &&
        private_make_folder(own, err) == 0 && private_config_write(own, err) == 0 &&
        private_start(own, err) == 0)
        status = private_wait(own);
    if (*own->folder)
        private_remove(own->folder, FOLDER_DEPTH);
    if (own->signals >= 0)
        close(own->signals);
    return status;
}

/* --- the command --- */

static int private_read_options(struct private_laterd *own, struct later_error *err)
{
    struct cli *cli = own->cli;

    if (args_text(&cli->args, "number"))
        return later_fail(err, LATER_E_USAGE, "--lines and -n: only one of them");
    if (cli->json)
        return later_fail(err, LATER_E_USAGE, "--lines and --json: only one of them");
    if (cli_number(cli, "parallel", 1, PARALLEL_MAX, &own->parallel, err) < 0 ||
        cli_number(cli, "programs", 1, PROGRAMS_MAX, &own->programs, err) < 0 ||
        cli_positive_duration(cli, "lease", &own->lease, err) < 0)
        return -1;
    return cli_positive_duration(cli, "timeout", &own->timeout, err);
}

/* The configuration wants the program's absolute path. */
static int private_find_program(struct private_laterd *own, struct later_error *err)
{
    const char *name = own->cli->args.program[0];

    if (strchr(name, '/') ? realpath(name, own->program) && access(own->program, X_OK) == 0
                          : skeleton_find_program(name, own->program))
        return 0;
    return later_fail(err, LATER_E_NONE, "%.200s: no such program", name);
}

/* Without --type, the program says which types it performs. */
static int private_ask_types(struct private_laterd *own, struct later_error *err)
{
    char *const *words = own->cli->args.program;
    char **program;
    size_t count = 0;

    if (args_text(&own->cli->args, "type"))
        return 0;
    while (words[count])
        count++;
    program = calloc(count + 1, sizeof *program);
    if (!program)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    memcpy(program, words, count * sizeof *program);
    program[0] = own->program;
    own->hello = hello_ask(program, (int)own->parallel, err);
    free(program);
    return own->hello ? 0 : -1;
}

int private_run(struct cli *cli, struct later_error *err)
{
    struct private_laterd own = { .cli = cli, .programs = 1, .signals = -1 };
    int status = LATER_OK;

    skeleton_look(&own.files, "work");
    if (private_read_options(&own, err) < 0 || private_find_program(&own, err) < 0 ||
        private_ask_types(&own, err) < 0)
        status = -1;
    else if (args_flag(&cli->args, "entry"))
        private_config_entry(&own);
    else
        status = private_work(&own, err);
    free(own.hello);
    return status;
}
