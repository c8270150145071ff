/*
 * redis_set.c: a Redis Cluster or a Sentinel set for test scripts (lib.sh).
 *
 *     redis_set cluster|sentinel FOLDER &
 *
 * It reads lines for the redis.conf of each server from FOLDER/redis.options, starts the set, keeps
 * its files in $TMPDIR, and writes FOLDER/redis.set when all is ready: `url URL`, then for each
 * server `master|replica|sentinel PORT PID`. On HUP it stops all and starts them again, with the
 * present options and their old data, and writes the file again. The sender removes the file first.
 * It stops all on TERM, and when the process that started it is gone.
 */
#include "cluster.h"
#include "sentinels.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *folder;

/* Returns the lines of a file, which the caller frees, or NULL if there is none. */
static char *read_options(void)
{
    char path[256], *text = NULL;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/redis.options", folder);
    file = fopen(path, "re");
    if (!file)
        return NULL;
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* It is written under another name first, so that a reader never sees half of it. */
static int publish(void (*write)(FILE *file, const void *set), const void *set)
{
    char draft[256], path[256];
    FILE *file;

    snprintf(draft, sizeof draft, "%s/redis.set.new", folder);
    snprintf(path, sizeof path, "%s/redis.set", folder);
    file = fopen(draft, "we");
    if (!file)
        return -1;
    write(file, set);
    return fclose(file) == 0 ? rename(draft, path) : -1;
}

static void write_cluster(FILE *file, const void *set)
{
    const struct cluster *cluster = set;

    fprintf(file, "url %s\n", cluster->url);
    for (int n = 0; n < CLUSTER_NODES; n++)
        fprintf(file, "%s %u %ld\n", n < CLUSTER_MASTERS ? "master" : "replica",
                cluster_port(cluster, n), (long)cluster->pid[n]);
}

static void write_sentinels(FILE *file, const void *set)
{
    const struct sentinels *sentinels = set;

    fprintf(file, "url %s\n", sentinels->url);
    for (int i = 0; i < SENTINELS_EACH; i++)
        fprintf(file, "%s %u %ld\n", i == 0 ? "master" : "replica", sentinels->redis_port[i],
                (long)sentinels->redis[i]);
    for (int i = 0; i < SENTINELS_EACH; i++)
        fprintf(file, "sentinel %u %ld\n", sentinels->sentinel_port[i],
                (long)sentinels->sentinel[i]);
}

/* --- both kinds */

/* No replica may take over while a master restarts or waits for a processor. What the master had
 * answered but not yet replicated would be lost. */
#define NODE_TIMEOUT 15000 /* ms */

static struct cluster cluster;
static struct sentinels sentinels;

static int open_cluster(const char *options)
{
    return cluster_start(&cluster, NODE_TIMEOUT, options) < 0 ? -1
                                                              : publish(write_cluster, &cluster);
}

static int again_cluster(const char *options)
{
    return cluster_again(&cluster, options) < 0 ? -1 : publish(write_cluster, &cluster);
}

static void close_cluster(void)
{
    cluster_stop(&cluster);
}

static int open_sentinels(const char *options)
{
    return sentinels_open(&sentinels, options) < 0 ? -1 : publish(write_sentinels, &sentinels);
}

static int again_sentinels(const char *options)
{
    return sentinels_again(&sentinels, options) < 0 ? -1 : publish(write_sentinels, &sentinels);
}

static void close_sentinels(void)
{
    sentinels_close(&sentinels);
}

static const struct kind {
    const char *name;
    int (*open)(const char *options);
    int (*again)(const char *options);
    void (*close)(void);
} kinds[] = {
    { "cluster", open_cluster, again_cluster, close_cluster },
    { "sentinel", open_sentinels, again_sentinels, close_sentinels },
};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

static int with_options(int (*call)(const char *options))
{
    char *options = read_options();
    int result = call(options);

    free(options);
    return result;
}

int main(int argc, char **argv)
{
    const struct kind *kind = argc == 3 ? kind_named(argv[1]) : NULL;
    int signal = SIGHUP, result;
    sigset_t signals;

    if (!kind) {
        fputs("usage: redis_set cluster|sentinel FOLDER\n", stderr);
        return 64;
    }
    folder = argv[2];
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    result = with_options(kind->open);
    while (result == 0 && sigwait(&signals, &signal) == 0 && signal == SIGHUP)
        result = with_options(kind->again);
    kind->close();
    return result == 0 ? 0 : 1;
}
