/* bookmark.c: how far events have been read. */
#include "see/bookmark.h"

#include "base/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bookmark_row *bookmark_row(const struct bookmark *bookmark, const char *queue)
{
    for (size_t i = 0; i < bookmark->count; i++) {
        if (strcmp(bookmark->rows[i].queue, queue) == 0)
            return &bookmark->rows[i];
    }
    return NULL;
}

void bookmark_find(const struct bookmark *bookmark, const char *queue, uint64_t *last)
{
    const struct bookmark_row *row = bookmark_row(bookmark, queue);

    if (row)
        *last = row->last;
}

int bookmark_set(struct bookmark *bookmark, const char *queue, uint64_t last,
                 struct later_error *err)
{
    struct bookmark_row *row = bookmark->path ? bookmark_row(bookmark, queue) : NULL;

    if (!bookmark->path || (row && row->last == last))
        return 0;
    bookmark->old = true;
    if (row) {
        row->last = last;
        return 0;
    }
    if (!later_grow(&bookmark->rows, &bookmark->room, bookmark->count, sizeof *bookmark->rows))
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    row = &bookmark->rows[bookmark->count++];
    *row = (struct bookmark_row){ .last = last };
    snprintf(row->queue, sizeof row->queue, "%s", queue);
    return 0;
}

/* Reads one line. Returns 0, or -1 with *err. */
static int bookmark_line(struct bookmark *bookmark, const char *line, int number,
                         struct later_error *err)
{
    const char *space = strchr(line, ' ');
    size_t len = space ? (size_t)(space - line) : 0;
    later_queue_name queue = "";
    char *end = NULL;
    uint64_t last = 0;

    if (space && len < sizeof queue) {
        memcpy(queue, line, len);
        queue[len] = '\0';
        errno = 0;
        last = strtoull(space + 1, &end, 10);
    }
    if (!end || errno || end == space + 1 || strcmp(end, "\n") != 0 ||
        !later_key_shard_valid(queue))
        return later_fail(err, LATER_E_DATA,
                          "%s:%d: no bookmark, which has lines `QUEUE NUMBER`; give another file",
                          bookmark->path, number);
    return bookmark_set(bookmark, queue, last, err);
}

int bookmark_read(struct bookmark *bookmark, const char *path, struct later_error *err)
{
    char line[LATER_QUEUE_MAX + 32];
    FILE *file = fopen(path, "re");
    int ok = 0;

    bookmark->path = path;
    if (!file && errno != ENOENT)
        return later_fail(err, LATER_E_USAGE, "--bookmark %s: %s", path, strerror(errno));
    bookmark->found = file;
    for (int number = 1; file && ok == 0 && fgets(line, sizeof line, file); number++)
        ok = bookmark_line(bookmark, line, number, err);
    if (file)
        fclose(file);
    bookmark->old = !file;
    return ok;
}

static bool bookmark_put(const struct bookmark *bookmark, const char *path)
{
    FILE *file = fopen(path, "we");
    bool ok = file;

    for (size_t i = 0; ok && i < bookmark->count; i++)
        ok = fprintf(file, "%s %" PRIu64 "\n", bookmark->rows[i].queue, bookmark->rows[i].last) > 0;
    if (file && fclose(file) != 0)
        ok = false;
    return ok;
}

int bookmark_write(struct bookmark *bookmark, struct later_error *err)
{
    char *fresh;
    bool ok;

    if (!bookmark->path || !bookmark->old)
        return 0;
    if (asprintf(&fresh, "%s.new", bookmark->path) < 0)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    ok = bookmark_put(bookmark, fresh) && rename(fresh, bookmark->path) == 0;
    if (!ok) {
        later_fail(err, LATER_E_SYSTEM, "--bookmark %s: %s", bookmark->path, strerror(errno));
        unlink(fresh);
    }
    free(fresh);
    bookmark->old = !ok;
    return ok ? 0 : -1;
}

void bookmark_free(struct bookmark *bookmark)
{
    free(bookmark->rows);
    *bookmark = (struct bookmark){ 0 };
}
