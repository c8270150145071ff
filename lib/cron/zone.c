/* zone.c: time zone files. */
#include "cron/zone.h"

#include "cron/zone_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX     65536 /* the largest of tzdata has 4 KiB */
#define CHANGES_MAX  4096
#define TYPES_MAX    256
#define HEAD         44 /* bytes of a block's head */
#define TYPE         6  /* bytes of a type: offset, daylight saving?, name */
#define OFFSET_LEAST (-25 * 3600)
#define OFFSET_MOST  (26 * 3600)

struct later_zone {
    size_t count;     /* changes */
    int64_t *changes; /* when; ascending */
    int32_t *offsets; /* since then */
    int32_t first;    /* before the first */
    struct zone_rule rule;
};

/* A block of a file: its head, and where its parts lie. */
struct block {
    size_t width; /* bytes of a time: 4, and 8 from version 2 on */
    uint32_t leaps, changes, types, chars, walls, uts;
    const unsigned char *data;
    size_t size; /* of everything after the head */
};

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t zone_read_time(const unsigned char *at, size_t width)
{
    if (width == 4)
        return (int32_t)read_u32(at);
    return (int64_t)((uint64_t)read_u32(at) << 32 | read_u32(at + 4));
}

static bool read_block(struct block *block, const unsigned char *at, size_t len, size_t width)
{
    if (len < HEAD || memcmp(at, "TZif", 4) != 0)
        return false;
    *block = (struct block){ .width = width,
                             .uts = read_u32(at + 20),
                             .walls = read_u32(at + 24),
                             .leaps = read_u32(at + 28),
                             .changes = read_u32(at + 32),
                             .types = read_u32(at + 36),
                             .chars = read_u32(at + 40),
                             .data = at + HEAD };
    if (block->changes > CHANGES_MAX || block->types > TYPES_MAX || block->types == 0 ||
        block->chars > FILE_MAX || block->leaps > CHANGES_MAX || block->walls > TYPES_MAX ||
        block->uts > TYPES_MAX)
        return false;
    block->size = block->changes * (width + 1) + block->types * TYPE + block->chars +
                  block->leaps * (width + 4) + block->walls + block->uts;
    return block->size <= len - HEAD;
}

static bool read_offset(const struct block *block, size_t type, int32_t *offset)
{
    const unsigned char *types = block->data + block->changes * (block->width + 1);

    if (type >= block->types)
        return false;
    *offset = (int32_t)read_u32(types + type * TYPE);
    return *offset >= OFFSET_LEAST && *offset <= OFFSET_MOST;
}

static bool read_changes(struct later_zone *zone, const struct block *block)
{
    const unsigned char *indices = block->data + block->changes * block->width;

    if (!read_offset(block, 0, &zone->first))
        return false;
    for (size_t i = 0; i < zone->count; i++) {
        zone->changes[i] = zone_read_time(block->data + i * block->width, block->width);
        if ((i > 0 && zone->changes[i] <= zone->changes[i - 1]) ||
            !read_offset(block, indices[i], &zone->offsets[i]))
            return false;
    }
    return true;
}

/* Reads the rule, which is between two line ends after the block of version 2. */
static bool read_rule(struct later_zone *zone, const unsigned char *at, const unsigned char *end)
{
    const unsigned char *stop;

    if (at == end || *at != '\n')
        return false;
    at++;
    stop = memchr(at, '\n', (size_t)(end - at));
    return stop && zone_rule_read(&zone->rule, (const char *)at, (size_t)(stop - at));
}

static bool zone_fill(struct later_zone *zone, const struct block *block, const unsigned char *end)
{
    return read_changes(zone, block) &&
           (block->width == 4 || read_rule(zone, block->data + block->size, end));
}

struct later_zone *later_zone_read(const void *bytes, size_t len, struct later_error *err)
{
    const unsigned char *at = bytes, *end = at + len;
    struct later_zone *zone;
    struct block block;
    bool ok = read_block(&block, at, len, 4);

    if (ok && at[4] >= '2') {
        at = block.data + block.size;
        ok = read_block(&block, at, (size_t)(end - at), 8);
    }
    if (!ok || block.leaps > 0) {
        later_fail(err, LATER_E_DATA,
                   ok ? "it counts leap seconds, which UNIX time does not"
                      : "not a time zone file");
        return NULL;
    }
    zone = calloc(1, sizeof *zone);
    if (zone) {
        zone->count = block.changes;
        zone->changes = calloc(zone->count + 1, sizeof *zone->changes);
        zone->offsets = calloc(zone->count + 1, sizeof *zone->offsets);
    }
    if (!zone || !zone->changes || !zone->offsets)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    else if (zone_fill(zone, &block, end))
        return zone;
    else
        later_fail(err, LATER_E_DATA, "a damaged time zone file");
    later_zone_free(zone);
    return NULL;
}

void later_zone_free(struct later_zone *zone)
{
    if (!zone)
        return;
    free(zone->changes);
    free(zone->offsets);
    free(zone);
}

static bool is_utc(const char *name)
{
    return strcmp(name, "UTC") == 0 || strcmp(name, "Etc/UTC") == 0;
}

static bool is_valid(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/");

    return len > 0 && len <= LATER_ZONE_MAX && !name[len] && name[0] != '/' && name[len - 1] != '/';
}

/* Reads all of a file into buf; -1 if it is not a regular file, or too large. */
static ssize_t zone_read_file(const char *path, char buf[FILE_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    ssize_t len = -1, got = 1;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
        for (len = 0; got > 0 && len < FILE_MAX; len += got) {
            got = read(fd, buf + len, FILE_MAX - (size_t)len);
            if (got < 0)
                break;
        }
        len = got < 0 ? -1 : len;
    }
    close(fd);
    return len;
}

static struct later_zone *zone_read_named(const char *name, struct later_error *err)
{
    char path[sizeof LATER_ZONES_DIR + LATER_ZONE_MAX + 1], *bytes = malloc(FILE_MAX);
    struct later_zone *zone = NULL;
    struct later_error why;
    ssize_t len;

    if (!bytes) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", LATER_ZONES_DIR, name);
    len = zone_read_file(path, bytes);
    if (len >= 0)
        zone = later_zone_read(bytes, (size_t)len, &why);
    if (len < 0 && access(LATER_ZONES_DIR, F_OK) != 0)
        later_fail(err, LATER_E_DATA,
                   "zone %s: there is no " LATER_ZONES_DIR
                   " (install the package tzdata); UTC needs none",
                   name);
    else if (len < 0)
        later_fail(err, LATER_E_DATA,
                   "there is no time zone %s (they are named as in " LATER_ZONES_DIR
                   ": Europe/Berlin)",
                   name);
    else if (!zone)
        later_fail(err, why.code, "zone %s: %s", name, why.text);
    free(bytes);
    return zone;
}

struct later_zone *later_zone_open(const char *name, struct later_error *err)
{
    struct later_zone *zone;

    if (is_utc(name)) {
        zone = calloc(1, sizeof *zone);
        if (!zone)
            later_fail(err, LATER_E_SYSTEM, "no memory");
        return zone;
    }
    if (!is_valid(name)) {
        later_fail(err, LATER_E_DATA, "%.80s is not the name of a time zone such as Europe/Berlin",
                   name);
        return NULL;
    }
    return zone_read_named(name, err);
}

/* Returns how many changes are not after the instant. */
static size_t passed(const struct later_zone *zone, int64_t at)
{
    size_t from = 0, to = zone->count;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (zone->changes[middle] <= at)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct later_zone_span later_zone_at(const struct later_zone *zone, int64_t at)
{
    size_t before = passed(zone, at);
    struct later_zone_span span = { INT64_MIN, INT64_MAX, zone->first };

    if (before == zone->count && zone->rule.there)
        span = zone_rule_at(&zone->rule, at);
    else if (before > 0)
        span.offset = zone->offsets[before - 1];
    if (before > 0 && zone->changes[before - 1] > span.from)
        span.from = zone->changes[before - 1];
    if (before < zone->count)
        span.to = zone->changes[before];
    return span;
}
