/* losses_file.c: what was seen of the counters, over restarts. */
#include "queues/losses_inner.h"

#include "base/digest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TITLE "counters 1" /* the first line, before which Redis it is about */

static void name_file(const struct losses *losses, const char *end, char path[600])
{
    snprintf(path, 600, "%s/counters%s", losses->queues->config->state_dir, end);
}

/* Says which Redis and which prefix it is about, without a password that the URL may have. */
static void write_title(const struct losses *losses, char title[100])
{
    char url[LATER_URL_SIZE], text[LATER_URL_SIZE + LATER_PREFIX_MAX + 2], hex[LATER_DIGEST_SIZE];

    link_url(losses->queues->config, url, sizeof url);
    later_address_shown(url, text);
    strcat(strcat(text, " "), losses->queues->prefix);
    later_digest(text, strlen(text), hex);
    snprintf(title, 100, TITLE " %s\n", hex);
}

static void losses_file_read_line(struct losses *losses, const char *line)
{
    char name[LATER_QUEUE_MAX + 1], at[32];
    struct later_sums sums;
    struct queue *queue;

    if (sscanf(line, "%64s %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s", name, &sums.of[0],
               &sums.of[1], &sums.of[2], at) != 5 ||
        !later_key_shard_valid(name) || !(queue = losses_need(losses, name)))
        return;
    queue->sums.known = true;
    queue->sums.last = sums;
    queue->sums.at = strtod(at, NULL);
}

void losses_load(struct losses *losses)
{
    char path[600], title[100], line[200];
    int fd;
    FILE *file;

    name_file(losses, "", path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    write_title(losses, title);
    if (fgets(line, sizeof line, file) && strcmp(line, title) == 0) {
        while (fgets(line, sizeof line, file))
            losses_file_read_line(losses, line);
    }
    fclose(file);
}

static void write_lines(const struct losses *losses, FILE *file)
{
    char title[100];

    write_title(losses, title);
    fputs(title, file);
    for (uint32_t i = 0; i < losses->queues->names.count; i++) {
        const struct queue *queue = queues_at(losses->queues, i);

        if (queue->sums.known)
            fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f\n", queue->keys.queue,
                    queue->sums.last.of[0], queue->sums.last.of[1], queue->sums.last.of[2],
                    queue->sums.at);
    }
}

/* Written beside and renamed, so that a file is whole. Not synced: an old one does no harm. */
void losses_save(struct losses *losses)
{
    char path[600], beside[600];
    int fd;
    FILE *file;

    name_file(losses, "", path);
    name_file(losses, ".new", beside);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    losses->changed = false;
    write_lines(losses, file);
    if (fclose(file) == 0)
        (void)rename(beside, path);
}
