/* snapshot.c: the queues as they were last seen. */
#include "live/snapshot.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 70
#define LATELY       30.0 /* seconds for which a changed queue counts as busy */
#define HURRY        4    /* looks until any change is seen (cli/kept.h) */
#define OFTEN        8.0  /* how much more often a busy queue is looked at */

struct row {
    char name[NAME_MAX_LEN + 1];
    char *line; /* owned, with its closing brace; NULL = not seen yet */
    size_t len;
    /* Where the line has the age of the oldest ready job, which grows by itself. */
    size_t age_from, age_to;
    double oldest;        /* since when that job waits; 0 = there is none */
    double seen, changed; /* times; 0 = never */
    double asked;         /* when it was last chosen */
    bool named, news;
    unsigned hurry; /* looks for which it comes before all others */
};

struct snapshot {
    struct row *rows; /* sorted by name */
    size_t count, room;
    char *gone; /* names as elements of a JSON list; owned */
};

struct snapshot *snapshot_new(void)
{
    return calloc(1, sizeof(struct snapshot));
}

void snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (size_t i = 0; i < snapshot->count; i++)
        free(snapshot->rows[i].line);
    free(snapshot->rows);
    free(snapshot->gone);
    free(snapshot);
}

size_t snapshot_count(const struct snapshot *snapshot)
{
    return snapshot->count;
}

/* --- the list of queues --- */

/* Returns where a name is, or where it belongs. */
static size_t snapshot_index_of(const struct snapshot *snapshot, const char *name)
{
    size_t from = 0, to = snapshot->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (strcmp(snapshot->rows[middle].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct row *snapshot_find(const struct snapshot *snapshot, const char *name)
{
    size_t i = snapshot_index_of(snapshot, name);

    return i < snapshot->count && strcmp(snapshot->rows[i].name, name) == 0 ? &snapshot->rows[i]
                                                                            : NULL;
}

/* Returns NULL without memory, or if the text is not a queue's name. */
static struct row *find_or_add(struct snapshot *snapshot, const char *text, size_t len)
{
    char name[NAME_MAX_LEN + 1];
    struct row *row;
    size_t i;

    if (len == 0 || len > NAME_MAX_LEN || memchr(text, '"', len) || memchr(text, '\\', len))
        return NULL;
    memcpy(name, text, len);
    name[len] = '\0';
    row = snapshot_find(snapshot, name);
    if (row)
        return row;
    if (!later_grow(&snapshot->rows, &snapshot->room, snapshot->count, sizeof *snapshot->rows))
        return NULL;
    i = snapshot_index_of(snapshot, name);
    memmove(snapshot->rows + i + 1, snapshot->rows + i,
            (snapshot->count - i) * sizeof *snapshot->rows);
    snapshot->count++;
    snapshot->rows[i] = (struct row){ 0 };
    strcpy(snapshot->rows[i].name, name);
    return &snapshot->rows[i];
}

void snapshot_list(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        snapshot->rows[i].named = false;
}

void snapshot_name(struct snapshot *snapshot, const char *name, size_t len)
{
    struct row *row = find_or_add(snapshot, name, len);

    if (row)
        row->named = true;
}

/* If readers have seen the queue, they must be told that it is gone. */
static void snapshot_drop(struct snapshot *snapshot, struct row *row)
{
    char *gone = NULL;

    if (asprintf(&gone, "%s%s\"%s\"", snapshot->gone ? snapshot->gone : "",
                 snapshot->gone ? "," : "", row->name) > 0) {
        free(snapshot->gone);
        snapshot->gone = gone;
    }
    free(row->line);
}

void snapshot_listed(struct snapshot *snapshot)
{
    size_t kept = 0;

    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->rows[i].named)
            snapshot->rows[kept++] = snapshot->rows[i];
        else
            snapshot_drop(snapshot, &snapshot->rows[i]);
    }
    snapshot->count = kept;
}

/* --- what is seen --- */

/* Finds the age of the oldest ready job in the queue's line. */
static void find_age(struct row *row, double now)
{
    static const char member[] = "\"oldest_ready\":";
    char *from = strstr(row->line, member), *end;
    double age;

    row->age_from = row->age_to = row->len;
    row->oldest = 0;
    if (!from)
        return;
    from += sizeof member - 1;
    age = strtod(from, &end);
    if (end == from)
        return; /* the age is null */
    row->age_from = (size_t)(from - row->line);
    row->age_to = (size_t)(end - row->line);
    row->oldest = now - age;
}

/* Are the rows the same, apart from an age that only grew by itself? */
static bool is_same(const struct row *a, const struct row *b)
{
    return a->line && a->age_from == b->age_from && a->len - a->age_to == b->len - b->age_to &&
           memcmp(a->line, b->line, a->age_from) == 0 &&
           memcmp(a->line + a->age_to, b->line + b->age_to, a->len - a->age_to) == 0 &&
           fabs(a->oldest - b->oldest) < 1;
}

bool snapshot_see(struct snapshot *snapshot, const char *line, size_t len, double now)
{
    static const char begin[] = "{\"queue\":\"";
    const char *name = line + sizeof begin - 1, *end;
    struct row *row, before;

    if (len < sizeof begin || strncmp(line, begin, sizeof begin - 1) != 0)
        return false;
    end = memchr(name, '"', len - (sizeof begin - 1));
    row = end ? find_or_add(snapshot, name, (size_t)(end - name)) : NULL;
    if (!row)
        return false;
    before = *row;
    row->line = strndup(line, len);
    row->len = len;
    row->named = true;
    row->seen = row->asked = now;
    if (!row->line) {
        *row = before;
        return false;
    }
    find_age(row, now);
    if (!is_same(&before, row)) {
        row->news = true;
        row->changed = before.line ? now : 0;
    }
    free(before.line);
    return true;
}

/* --- whose turn it is --- */

static double urgency(const struct row *row, double now)
{
    if (row->hurry || row->asked == 0)
        return HUGE_VAL; /* a new one is shown once it has been asked about */
    return (now - row->asked) * (row->changed > 0 && now - row->changed < LATELY ? OFTEN : 1);
}

size_t snapshot_due(struct snapshot *snapshot, double now, const char **names, size_t max)
{
    size_t count = 0;

    while (count < max && count < snapshot->count) {
        struct row *most = NULL;

        for (size_t i = 0; i < snapshot->count; i++) {
            struct row *row = &snapshot->rows[i];

            if (row->asked < now && (!most || urgency(row, now) > urgency(most, now)))
                most = row;
        }
        if (!most)
            break;
        most->asked = now;
        most->hurry -= most->hurry > 0;
        names[count++] = most->name;
    }
    return count;
}

void snapshot_hurry(struct snapshot *snapshot, const char *name)
{
    struct row *row = snapshot_find(snapshot, name);

    if (row)
        row->hurry = HURRY;
}

/* --- output --- */

void snapshot_write(const struct snapshot *snapshot, FILE *out, bool all, double now)
{
    const char *comma = "";

    fputs("\"queues\":[", out);
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct row *row = &snapshot->rows[i];

        if (!row->line || (!all && !row->news))
            continue;
        fprintf(out, "%s{\"age\":%.1f,%s", comma, now - row->seen, row->line + 1);
        comma = ",";
    }
    putc(']', out);
    if (!all)
        fprintf(out, ",\"gone\":[%s]", snapshot->gone ? snapshot->gone : "");
}

void snapshot_told(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        snapshot->rows[i].news = false;
    free(snapshot->gone);
    snapshot->gone = NULL;
}
