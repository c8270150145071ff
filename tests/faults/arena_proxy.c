/* arena_proxy.c: the proxy between a test's Redis and all others. */
#include "arena.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void control_path(const struct arena *arena, char *path, size_t room)
{
    snprintf(path, room, "%s/proxy", arena->folder);
}

static pid_t run_proxy(const struct arena *arena, const int out[2])
{
    const char *top = getenv("top_builddir");
    char program[300], control[100];
    pid_t pid = fork();

    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out[1], STDOUT_FILENO);
    close(out[0]);
    close(out[1]);
    control_path(arena, control, sizeof control);
    snprintf(program, sizeof program, "%s/tests/faults/proxy", top ? top : ".");
    execl(program, program, "0", arena->redis.socket, control, (char *)NULL);
    _exit(127);
}

int arena_proxy(struct arena *arena)
{
    char port[16] = "";
    int out[2];

    if (pipe(out) < 0)
        return -1;
    arena->proxy = run_proxy(arena, out);
    close(out[1]);
    if (read(out[0], port, sizeof port - 1) <= 0)
        port[0] = '\0';
    close(out[0]);
    snprintf(arena->url, sizeof arena->url, "redis://127.0.0.1:%d", atoi(port));
    return atoi(port) > 0 ? 0 : -1;
}

void arena_proxy_end(struct arena *arena)
{
    if (arena->proxy <= 0)
        return;
    kill(arena->proxy, SIGKILL);
    waitpid(arena->proxy, NULL, 0);
    arena->proxy = 0;
}

int arena_order(const struct arena *arena, const char *order, unsigned number)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char line[64] = "";

    control_path(arena, address.sun_path, sizeof address.sun_path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        snprintf(line, sizeof line, "%s %u\n", order, number);
        (void)!write(fd, line, strlen(line));
        memset(line, 0, sizeof line);
        (void)!read(fd, line, sizeof line - 1);
    }
    close(fd);
    return atoi(line);
}
