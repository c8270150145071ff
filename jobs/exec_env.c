/* exec_env.c: a program's environment, and words for how it ended. */
#include "exec.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ENV_OURS = 10 };

bool exec_env_has(const struct exec_program *program, const char *key)
{
    size_t len = strlen(key);

    for (size_t i = 0; i < program->env_count; i++) {
        if (strncmp(program->env[i], key, len) == 0 && program->env[i][len] == '=')
            return true;
    }
    return false;
}

/* Our strings are written into one block after the list, so that one free() is enough. Variables
 * without a value are left out. */
static char **make_env(const struct exec_program *program, const char *const (*ours)[2])
{
    size_t list = (ENV_OURS + program->env_count + 1) * sizeof(char *), size = list, count = 0;
    char **env, *at;

    for (size_t i = 0; i < ENV_OURS; i++)
        size += ours[i][1] ? strlen(ours[i][0]) + strlen(ours[i][1]) + 2 : 0;
    env = malloc(size);
    if (!env)
        return NULL;
    at = (char *)env + list;
    for (size_t i = 0; i < ENV_OURS; i++) {
        if (!ours[i][1] || exec_env_has(program, ours[i][0]))
            continue;
        env[count++] = at;
        at += sprintf(at, "%s=%s", ours[i][0], ours[i][1]) + 1;
    }
    for (size_t i = 0; i < program->env_count; i++)
        env[count++] = program->env[i];
    env[count] = NULL;
    return env;
}

char **exec_env(const struct exec_program *program, struct later_job *job)
{
    char attempt[16] = "", parallel[24];
    const char *trace = job ? later_job_trace(job) : NULL;
    const char *const ours[ENV_OURS][2] = {
        { "PATH", "/usr/local/bin:/usr/bin:/bin" },
        { "HOME", "/" },
        { "LANG", "C" },
        { "LATER_ID", job ? later_job_id(job) : NULL },
        { "LATER_TYPE", job ? later_job_type(job) : program->type },
        { "LATER_ANSWERS", program->lines ? "3" : NULL },
        { "LATER_PARALLEL", program->parallel ? parallel : NULL },
        { "LATER_QUEUE", job ? later_job_queue(job) : NULL },
        { "LATER_ATTEMPT", job ? attempt : NULL },
        { "LATER_TRACE", job && !trace ? "" : trace }
    };

    snprintf(parallel, sizeof parallel, "%lu", program->parallel);
    if (job)
        snprintf(attempt, sizeof attempt, "%u", (unsigned)later_job_attempt(job));
    return make_env(program, ours);
}

/* Is it forbidden to run memory that was written (MemoryDenyWriteExecute= of systemd.exec(5))?
 * node, java and others must do that, and are killed by a signal in such a sandbox. */
static bool code_is_denied(void)
{
    void *page =
        mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return true;
    munmap(page, 1);
    return false;
}

/* The hint is given once for all programs, in addition to the job's own line. */
static const char *exec_env_sandbox_hint(const struct exec_program *program, int signal)
{
    static bool told;

    if ((signal != SIGTRAP && signal != SIGILL && signal != SIGABRT && signal != SIGSEGV) ||
        !code_is_denied())
        return "";
    if (!told)
        later_log("exec", LATER_ERROR,
                  "%s: killed by signal %d: programs that generate code at run time (node, java) "
                  "need MemoryDenyWriteExecute=no in laterd.service: laterd(8), SANDBOX",
                  program->name, signal);
    told = true;
    return ": does it generate code at run time? The sandbox denies that: laterd(8), SANDBOX";
}

void exec_end_text(const struct exec_end *end, const struct exec_program *program, char *text,
                   size_t n)
{
    switch (end->how) {
    case EXEC_EXITED:
        snprintf(text, n, "exit status %d", end->code);
        break;
    case EXEC_KILLED:
        snprintf(text, n, "killed by signal %d (%s)%s", end->code, strsignal(end->code),
                 exec_env_sandbox_hint(program, end->code));
        break;
    case EXEC_TIMED_OUT:
        snprintf(text, n, "timed out");
        break;
    case EXEC_CANCELLED:
        snprintf(text, n, "cancelled");
        break;
    case EXEC_LOST:
        snprintf(text, n, "its exit status was taken by another part of the process");
        break;
    case EXEC_FAILED:
        snprintf(text, n, "%.200s could not %s: %s", program->argv[0], end->step,
                 strerror(end->code));
        break;
    }
}

void exec_broken_text(const struct exec_end *end, const struct exec_program *program,
                      const char *broken, bool signalled, char *text, size_t n)
{
    bool ours = end->how == EXEC_KILLED && (end->code == SIGTERM || end->code == SIGKILL);
    char how[300];

    exec_end_text(end, program, how, sizeof how);
    if (broken && signalled)
        snprintf(text, n, "the program was ended, since %s%s%s", broken, ours ? "" : ": ",
                 ours ? "" : how);
    else
        snprintf(text, n, "the program died: %s", how);
}
