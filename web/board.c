/* board.c: the queues as they were last seen. */
#include "board.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 70
#define LATELY       30.0 /* seconds for which a changed queue counts as busy */
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
};

struct board {
    struct row *rows; /* sorted by name */
    size_t count, room;
    char *gone; /* names as elements of a JSON list; owned */
};

struct board *board_new(void)
{
    return calloc(1, sizeof(struct board));
}

void board_free(struct board *board)
{
    if (!board)
        return;
    for (size_t i = 0; i < board->count; i++)
        free(board->rows[i].line);
    free(board->rows);
    free(board->gone);
    free(board);
}

size_t board_count(const struct board *board)
{
    return board->count;
}

/* --- the list of queues --- */

/* Returns where a name is, or where it belongs. */
static size_t index_of(const struct board *board, const char *name)
{
    size_t from = 0, to = board->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (strcmp(board->rows[middle].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct row *find(const struct board *board, const char *name)
{
    size_t i = index_of(board, name);

    return i < board->count && strcmp(board->rows[i].name, name) == 0 ? &board->rows[i] : NULL;
}

/* Returns NULL without memory, or if the text is not a queue's name. */
static struct row *find_or_add(struct board *board, const char *text, size_t len)
{
    char name[NAME_MAX_LEN + 1];
    struct row *row;
    size_t i;

    if (len == 0 || len > NAME_MAX_LEN || memchr(text, '"', len) || memchr(text, '\\', len))
        return NULL;
    memcpy(name, text, len);
    name[len] = '\0';
    row = find(board, name);
    if (row)
        return row;
    if (board->count == board->room) {
        size_t room = board->room ? 2 * board->room : 64;
        struct row *rows = realloc(board->rows, room * sizeof *rows);

        if (!rows)
            return NULL;
        board->rows = rows;
        board->room = room;
    }
    i = index_of(board, name);
    memmove(board->rows + i + 1, board->rows + i, (board->count - i) * sizeof *board->rows);
    board->count++;
    board->rows[i] = (struct row){ 0 };
    strcpy(board->rows[i].name, name);
    return &board->rows[i];
}

void board_list(struct board *board)
{
    for (size_t i = 0; i < board->count; i++)
        board->rows[i].named = false;
}

void board_name(struct board *board, const char *name, size_t len)
{
    struct row *row = find_or_add(board, name, len);

    if (row)
        row->named = true;
}

/* If readers have seen the queue, they must be told that it is gone. */
static void drop(struct board *board, struct row *row)
{
    char *gone = NULL;

    if (asprintf(&gone, "%s%s\"%s\"", board->gone ? board->gone : "", board->gone ? "," : "",
                 row->name) > 0) {
        free(board->gone);
        board->gone = gone;
    }
    free(row->line);
}

void board_listed(struct board *board)
{
    size_t kept = 0;

    for (size_t i = 0; i < board->count; i++) {
        if (board->rows[i].named)
            board->rows[kept++] = board->rows[i];
        else
            drop(board, &board->rows[i]);
    }
    board->count = kept;
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

bool board_see(struct board *board, const char *line, size_t len, double now)
{
    static const char begin[] = "{\"queue\":\"";
    const char *name = line + sizeof begin - 1, *end;
    struct row *row, before;

    if (len < sizeof begin || strncmp(line, begin, sizeof begin - 1) != 0)
        return false;
    end = memchr(name, '"', len - (sizeof begin - 1));
    row = end ? find_or_add(board, name, (size_t)(end - name)) : NULL;
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
    return (now - row->asked) * (row->changed > 0 && now - row->changed < LATELY ? OFTEN : 1);
}

size_t board_due(struct board *board, double now, const char **names, size_t max)
{
    size_t count = 0;

    while (count < max && count < board->count) {
        struct row *most = NULL;

        for (size_t i = 0; i < board->count; i++) {
            struct row *row = &board->rows[i];

            if (row->asked < now && (!most || urgency(row, now) > urgency(most, now)))
                most = row;
        }
        if (!most)
            break;
        most->asked = now;
        names[count++] = most->name;
    }
    return count;
}

void board_hurry(struct board *board, const char *name)
{
    struct row *row = find(board, name);

    if (row)
        row->asked = -1e9;
}

/* --- output --- */

void board_write(const struct board *board, FILE *out, bool all, double now)
{
    const char *comma = "";

    fputs("\"queues\":[", out);
    for (size_t i = 0; i < board->count; i++) {
        const struct row *row = &board->rows[i];

        if (!row->line || (!all && !row->news))
            continue;
        fprintf(out, "%s{\"age\":%.1f,%s", comma, now - row->seen, row->line + 1);
        comma = ",";
    }
    putc(']', out);
    if (!all)
        fprintf(out, ",\"gone\":[%s]", board->gone ? board->gone : "");
}

void board_told(struct board *board)
{
    for (size_t i = 0; i < board->count; i++)
        board->rows[i].news = false;
    free(board->gone);
    board->gone = NULL;
}
