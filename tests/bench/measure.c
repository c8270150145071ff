/* measure.c: clocks, CPU times, medians, rows. */
#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TREE_MAX 4096 /* processes of a tree */

static double read_clock(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double now_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double now_unix(void)
{
    return read_clock(CLOCK_REALTIME);
}

void sleep_seconds(double seconds)
{
    struct timespec left;

    if (seconds <= 0)
        return;
    left.tv_sec = (time_t)seconds;
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) < 0 && errno == EINTR) {
    }
}

/* ---- CPU time */

/* utime and stime of /proc/PID/stat, fields 14 and 15; the second field may hold spaces. */
static double cpu_by_ticks(pid_t pid, int *parent)
{
    char path[64], line[1024], *rest;
    unsigned long user = 0, system = 0;
    size_t got;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = fopen(path, "re");
    if (!file)
        return -1;
    got = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[got] = '\0';
    rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", parent,
                        &user, &system) != 3)
        return -1;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double cpu_of_task(pid_t pid, const char *task)
{
    char path[320];
    unsigned long long nanoseconds;
    double seconds = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/task/%s/schedstat", (long)pid, task);
    file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%llu", &nanoseconds) == 1)
        seconds = (double)nanoseconds / 1e9;
    fclose(file);
    return seconds;
}

double cpu_of(pid_t pid)
{
    char path[64];
    double sum = 0;
    bool precise = false;
    struct dirent *entry;
    int parent;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        double seconds = *entry->d_name == '.' ? -1 : cpu_of_task(pid, entry->d_name);

        if (seconds >= 0) {
            sum += seconds;
            precise = true;
        }
    }
    if (tasks)
        closedir(tasks);
    return precise ? sum : fmax(cpu_by_ticks(pid, &parent), 0);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pids[i] == pid)
            return true;
    }
    return false;
}

/* Adds the processes whose parent is among those found so far; returns how many there are then. */
static size_t add_children(pid_t *pids, size_t count)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    while (proc && (entry = readdir(proc)) && count < TREE_MAX) {
        pid_t pid = (pid_t)atol(entry->d_name);
        int parent = 0;

        if (pid > 0 && !is_among(pid, pids, count) && cpu_by_ticks(pid, &parent) >= 0 &&
            is_among(parent, pids, count))
            pids[count++] = pid;
    }
    if (proc)
        closedir(proc);
    return count;
}

double cpu_of_tree(pid_t pid)
{
    pid_t pids[TREE_MAX] = { pid };
    size_t count = 1, before = 0;
    double sum = 0;

    while (count > before) {
        before = count;
        count = add_children(pids, count);
    }
    for (size_t i = 0; i < count; i++)
        sum += cpu_of(pids[i]);
    return sum;
}

/* ---- numbers */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double percentile(double *values, size_t count, double share)
{
    size_t at = (size_t)ceil(share * (double)count);

    if (!count)
        return 0;
    qsort(values, count, sizeof *values, compare);
    return values[at ? at - 1 : 0];
}

double median(double *values, size_t count)
{
    if (!count)
        return 0;
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- Redis's own count */

double sent_commands(redisContext *redis)
{
    static const char *const names[] = { "evalsha",        "blpop",
                                         "client|unblock", "script|load",
                                         "client|setname", "client|id",
                                         "subscribe",      "ping" };
    redisReply *reply = redisCommand(redis, "INFO commandstats");
    double sum = 0;

    if (!reply || reply->type == REDIS_REPLY_ERROR)
        fatal("INFO commandstats: no answer");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char look_for[64];
        const char *at;

        snprintf(look_for, sizeof look_for, "cmdstat_%s:calls=", names[i]);
        at = strstr(reply->str, look_for);
        if (at)
            sum += strtod(at + strlen(look_for), NULL);
    }
    freeReplyObject(reply);
    return sum;
}

/* ---- words */

static bool first_in_row;

static void row_name(const char *name)
{
    printf("%s\"%s\":", first_in_row ? "{" : ",", name);
    first_in_row = false;
}

void row_begin(const char *bench)
{
    first_in_row = true;
    row_text("bench", bench);
}

void row_text(const char *name, const char *value)
{
    row_name(name);
    printf("\"%s\"", value);
}

void row_number(const char *name, double value)
{
    row_name(name);
    if (value == floor(value) && fabs(value) < 1e15)
        printf("%.0f", value);
    else
        printf("%.*f", fabs(value) >= 1000 ? 0 : fabs(value) >= 1 ? 3 : 5, value);
}

void row_end(void)
{
    puts("}");
    fflush(stdout);
}

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args)
{
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void progress(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("bench: ", stderr);
    say(format, args);
    va_end(args);
}

void fatal(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("bench: failed: ", stderr);
    say(format, args);
    va_end(args);
    exit(1);
}
