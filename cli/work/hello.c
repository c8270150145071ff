/* hello.c: asks a program of handlers which types it performs. */
#include "work/hello.h"

#include "base/clock.h"
#include "job/json_path.h"
#include "work/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT      60.0 /* seconds for the line */
#define END_WAIT  5.0  /* seconds to end once it has said it */
#define HELLO_MAX 131072
#define ANSWERS   3 /* its descriptor for answers */

struct hello {
    pid_t pid;
    int input, answers; /* our ends of its pipes */
    int status;         /* as of waitpid(2) */
    bool ended;
};

/* --- the program --- */

static _Noreturn void hello_become(char *const *program, int parallel, int input, int answers)
{
    char number[16];
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(number, sizeof number, "%d", parallel);
    setenv("LATER_ANSWERS", "3", 1);
    setenv("LATER_PARALLEL", number, 1);
    /* The end for answers may be where the other one has to go. */
    if (dup2(input, STDIN_FILENO) < 0 || dup2(answers, ANSWERS) < 0 ||
        (answers == ANSWERS && fcntl(ANSWERS, F_SETFD, 0) < 0))
        _exit(127);
    execv(program[0], program);
    fprintf(stderr, "%s: %s\n", program[0], strerror(errno));
    _exit(127);
}

static int hello_start(struct hello *hello, char *const *program, int parallel,
                       struct later_error *err)
{
    int input[2], answers[2];

    if (pipe2(input, O_CLOEXEC) < 0)
        return later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
    if (pipe2(answers, O_CLOEXEC) < 0) {
        later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
        close(input[0]);
        close(input[1]);
        return -1;
    }
    fflush(NULL);
    hello->pid = fork();
    if (hello->pid == 0)
        hello_become(program, parallel, input[0], answers[1]);
    close(input[0]);
    close(answers[1]);
    hello->input = input[1];
    hello->answers = answers[0];
    return hello->pid > 0 ? 0 : later_fail(err, LATER_E_SYSTEM, "fork: %s", strerror(errno));
}

static void hello_wait(struct hello *hello, double until)
{
    while (hello->pid > 0 && !hello->ended) {
        pid_t ended = waitpid(hello->pid, &hello->status, WNOHANG);

        hello->ended = ended != 0;
        if (!hello->ended && later_clock() > until)
            kill(hello->pid, SIGKILL);
        if (!hello->ended)
            later_sleep(0.005);
    }
}

/* Its input ends, so it ends, too. */
static void hello_end(struct hello *hello)
{
    if (hello->input >= 0)
        close(hello->input);
    hello_wait(hello, later_clock() + END_WAIT);
    if (hello->answers >= 0)
        close(hello->answers);
}

/* --- its line --- */

/* Reads until a line is there. Returns its length without the newline; -1: it closed, said too
 * much, or the time is over. */
static ssize_t hello_read(const struct hello *hello, char *line)
{
    struct pollfd answers = { .fd = hello->answers, .events = POLLIN };
    double until = later_clock() + WAIT, left;
    size_t len = 0;

    while (len < HELLO_MAX && (left = until - later_clock()) > 0) {
        char *end;
        ssize_t got = 0;

        if (poll(&answers, 1, (int)(left * 1000) + 1) > 0) {
            got = read(hello->answers, line + len, HELLO_MAX - len);
            if (got <= 0)
                return -1;
        }
        end = memchr(line + len, '\n', (size_t)got);
        if (end)
            return end - line;
        len += (size_t)got;
    }
    return -1;
}

bool hello_type(const char *line, unsigned i, char type[LATER_TYPE_MAX + 1])
{
    struct later_json_member found;
    char path[LATER_PATH_MAX];
    size_t len;

    snprintf(path, sizeof path, "types.%u.name", i);
    if (!later_json_path(line, strlen(line), path, &found) || *found.value != '"')
        return false;
    len = later_json_text(found.value, found.len, type, LATER_TYPE_MAX);
    if (len > LATER_TYPE_MAX)
        return false;
    type[len] = '\0';
    return true;
}

static int hello_refuse(const struct hello *hello, const char *name, struct later_error *err)
{
    char how[64] = "it said nothing in a minute";

    if (hello->ended && hello->pid > 0)
        child_describe(hello->status, how, sizeof how);
    return later_fail(err, LATER_E_NONE,
                      "%.200s: which types does it perform? It did not say hello (%s); name them "
                      "with --type",
                      name, how);
}

char *hello_ask(char *const *program, int parallel, struct later_error *err)
{
    struct hello hello = { .input = -1, .answers = -1 };
    char *line = calloc(1, HELLO_MAX + 1), type[LATER_TYPE_MAX + 1];
    ssize_t len = -1;
    bool started;

    if (!line) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    started = hello_start(&hello, program, parallel, err) == 0;
    if (started)
        len = hello_read(&hello, line);
    hello_end(&hello);
    line[len > 0 ? len : 0] = '\0';
    if (started && hello_type(line, 0, type))
        return line;
    if (started)
        hello_refuse(&hello, program[0], err);
    free(line);
    return NULL;
}
