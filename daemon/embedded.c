/* embedded.c: a redis-server of our own. */
#include "embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LEFT_OVER_TRIES 100 /* of a tenth of a second */
#define PASSWORD_BYTES  32

bool embedded_wanted(const struct config *config)
{
    return strcmp(config->redis.url, "embedded") == 0;
}

/* Makes a new file that nobody else may read, in place of any that is there. */
static FILE *embedded_create(const char *path, struct later_error *err)
{
    FILE *file;
    int fd;

    (void)unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    return file;
}

static int close_file(FILE *file, const char *path, struct later_error *err)
{
    bool failed = ferror(file) != 0;

    if (fclose(file) != 0 || failed)
        return later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    return 0;
}

/* Makes a new password for the user `admin` at each start. */
static int write_password(const char *path, char password[2 * PASSWORD_BYTES + 1],
                          struct later_error *err)
{
    unsigned char random[PASSWORD_BYTES];
    FILE *file = embedded_create(path, err);

    if (!file)
        return -1;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        later_fail(err, LATER_E_SYSTEM, "no random bytes for a password: %s", strerror(errno));
        fclose(file);
        return -1;
    }
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(password + 2 * i, 3, "%02x", random[i]);
    fprintf(file, "%s\n", password);
    return close_file(file, path, err);
}

/* Writes what differs from Redis's defaults. Data reaches the disk every second, as
 * doc/operations.md says, and Redis rewrites its file by itself. The rest keeps the server private:
 * whoever can open the socket may work with our keys, but not administrate. */
static int write_conf(const struct config *config, const char *path, const char *password,
                      struct later_error *err)
{
    const char *prefix = config->redis.prefix;
    FILE *file = embedded_create(path, err);

    if (!file)
        return -1;
    fprintf(file,
            "# written by laterd at each start: changes are lost\n"
            "port 0\n"
            "unixsocket \"%s/redis.sock\"\n"
            "unixsocketperm 660\n"
            "dir \"%s\"\n"
            "appendonly yes\n"
            "appendfsync everysec\n"
            "save \"\"\n"
            "maxmemory-policy noeviction\n"
            "daemonize no\n"
            "loglevel warning\n"
            "logfile \"\"\n"
            "user default on nopass ~%s:* &%s:* +@all -@admin -@dangerous -function "
            "-script|flush -script|kill +info +client|unblock +role\n"
            "user admin on >%s ~* &* +@all\n",
            config->state_dir, config->state_dir, prefix, prefix, password);
    return close_file(file, path, err);
}

/* Does a server accept connections there? */
static bool answers(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes;

    memcpy(to.sun_path, path, strnlen(path, sizeof to.sun_path - 1));
    yes = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    if (fd >= 0)
        close(fd);
    return yes;
}

/* If laterd was killed, the kernel sends its server TERM; the server then writes its file and ends.
 */
static int wait_for_left_over(const char *path, struct later_error *err)
{
    for (int i = 0; i < LEFT_OVER_TRIES; i++) {
        if (!answers(path))
            return 0;
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    }
    return later_fail(err, LATER_E_SYSTEM,
                      "another redis-server answers at %s and does not go; stop it", path);
}

static void run_server(const char *conf, pid_t parent, int output)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);   /* our handlers would swallow a TERM until exec */
    signal(SIGXFSZ, SIG_IGN); /* then a file at its size limit only refuses writes */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); /* a Ctrl-C is not for it: workers drain first */
    umask(0077);   /* the socket's mode is unixsocketperm */
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execlp("redis-server", "redis-server", conf, (char *)NULL);
    _exit(127);
}

static bool has_redis(void)
{
    const char *path = getenv("PATH");
    char candidate[512];

    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        size_t len = strcspn(path, ":");

        snprintf(candidate, sizeof candidate, "%.*s/redis-server", (int)len, path);
        if (access(candidate, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}

static void name_sockets(const struct config *config, char sock[512], char spare[512])
{
    snprintf(sock, 512, "%s/redis.sock", config->state_dir);
    snprintf(spare, 512, "%s/.redis.sock", config->state_dir);
}

bool embedded_mend(const struct config *config)
{
    char sock[512], spare[512];
    struct stat there, kept;
    bool has_spare;

    name_sockets(config, sock, spare);
    has_spare = lstat(spare, &kept) == 0;
    if (lstat(sock, &there) < 0)
        return errno == ENOENT && has_spare && link(spare, sock) == 0;
    if (has_spare && there.st_ino == kept.st_ino)
        return false;
    unlink(spare);
    (void)!link(sock, spare);
    return false;
}

pid_t embedded_start(const struct config *config, int *output, struct later_error *err)
{
    char conf[512], sock[512], spare[512], secret[512], password[2 * PASSWORD_BYTES + 1];
    pid_t parent = getpid(), pid;
    int words[2];
    sigset_t all, before;

    snprintf(conf, sizeof conf, "%s/redis.conf", config->state_dir);
    name_sockets(config, sock, spare);
    snprintf(secret, sizeof secret, "%s/redis.password", config->state_dir);
    if (strlen(sock) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return later_fail(err, LATER_E_CONFIG,
                          "state_dir: %s is too long for a unix socket in it; at most 95 bytes",
                          config->state_dir);
    if (!has_redis())
        return later_fail(err, LATER_E_CONFIG,
                          "redis.url: embedded needs redis-server in PATH; "
                          "install it (apt-get install redis-server)");
    if (wait_for_left_over(sock, err) < 0 || write_password(secret, password, err) < 0 ||
        write_conf(config, conf, password, err) < 0)
        return -1;
    explicit_bzero(password, sizeof password);
    if (pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0) /* it never waits for us to read its output */
        return later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
    unlink(spare);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        run_server(conf, parent, words[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(words[1]);
    *output = words[0];
    if (pid > 0)
        return pid;
    close(words[0]);
    return later_fail(err, LATER_E_SYSTEM, "fork: %s", strerror(errno));
}
