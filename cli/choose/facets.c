/* facets.c: counts the jobs that were chosen by what they have in common. */
#include "choose/facets.h"

#include "job/filter_match.h"
#include "job/json_path.h"
#include "output/jsonl.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct facet {
    char name[LATER_PATH_MAX + 1];
    const struct facet_source *source;
    json_t *counts; /* owned; by value */
    uint64_t others, none;
};

/* --- where a value is --- */

/* Copies a string, or a number, true, false or null as it is written. False if it is none of them,
 * or too long. */
static bool facet_copy(const struct later_json_member *found, char *value)
{
    size_t len = found->len;

    if (*found->value == '{' || *found->value == '[')
        return false;
    if (*found->value == '"')
        len = later_json_text(found->value, found->len, value, FACETS_LENGTH);
    else if (len <= FACETS_LENGTH)
        memcpy(value, found->value, len);
    if (len > FACETS_LENGTH || memchr(value, '\0', len))
        return false;
    value[len] = '\0';
    return true;
}

static bool facet_state(const struct facet *facet, const char *queue, const struct chosen *chosen,
                        char *value)
{
    (void)facet;
    (void)queue;
    strcpy(value, later_key_name(chosen->set));
    return true;
}

static bool facet_queue(const struct facet *facet, const char *queue, const struct chosen *chosen,
                        char *value)
{
    (void)facet;
    (void)chosen;
    snprintf(value, FACETS_LENGTH + 1, "%s", queue);
    return true;
}

/* A member of its last error. */
static bool facet_error(const struct facet *facet, const char *queue, const struct chosen *chosen,
                        char *value)
{
    const struct later_record *record = &chosen->seen->record;

    (void)queue;
    return later_filter_string(record->error, record->error_len, facet->name, value,
                               FACETS_LENGTH + 1) &&
           *value;
}

static bool facet_path(const struct facet *facet, const char *queue, const struct chosen *chosen,
                       char *value)
{
    const struct later_seen *seen = chosen->seen;
    struct later_json_member found;

    (void)queue;
    return later_json_path(seen->document, seen->document_len, facet->name, &found) &&
           facet_copy(&found, value);
}

/* What is not named here is a path in the document. */
static const struct facet_source {
    const char *name; /* NULL: any path */
    bool (*read)(const struct facet *facet, const char *queue, const struct chosen *chosen,
                 char *value);
    bool reads;
} sources[] = {
    { "state", facet_state, false }, { "queue", facet_queue, false }, { "kind", facet_error, true },
    { "host", facet_error, true },   { NULL, facet_path, true },
};

/* --- --by --- */

static int facet_take(struct facet *facet, const char *name, size_t len, struct later_error *err)
{
    const struct facet_source *source = sources;

    if (len >= sizeof facet->name)
        return later_fail(err, LATER_E_USAGE, "--by: %.40s is longer than %d bytes", name,
                          LATER_PATH_MAX);
    memcpy(facet->name, name, len);
    facet->name[len] = '\0';
    while (source->name && strcmp(source->name, facet->name) != 0)
        source++;
    if (!source->name && !later_json_path_valid(facet->name))
        return later_fail(err, LATER_E_USAGE,
                          "--by: %.40s is not state, queue, kind, host or a path such as "
                          "payload.tenant",
                          facet->name);
    facet->source = source;
    facet->counts = json_object();
    return facet->counts ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory");
}

int facets_begin(struct facets *facets, const struct cli *cli, struct later_error *err)
{
    const char *names = args_text(&cli->args, "by");

    *facets = (struct facets){ 0 };
    if (!names)
        return 0;
    facets->all = calloc(FACETS_MAX, sizeof *facets->all);
    if (!facets->all)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    for (;;) {
        size_t len = strcspn(names, ",");
        int ok = facets->count < FACETS_MAX
                     ? facet_take(&facets->all[facets->count], names, len, err)
                     : later_fail(err, LATER_E_USAGE, "--by: at most %d names", FACETS_MAX);

        if (ok < 0) {
            facets_end(facets);
            return -1;
        }
        facets->count++;
        if (!names[len])
            return 0;
        names += len + 1;
    }
}

void facets_end(struct facets *facets)
{
    for (size_t i = 0; facets->all && i < FACETS_MAX; i++)
        json_decref(facets->all[i].counts);
    free(facets->all);
    *facets = (struct facets){ 0 };
}

bool facets_read(const struct facets *facets)
{
    for (size_t i = 0; i < facets->count; i++) {
        if (facets->all[i].source->reads)
            return true;
    }
    return false;
}

/* --- counting --- */

static int facet_add(struct facet *facet, const char *value, struct later_error *err)
{
    json_t *count = json_object_get(facet->counts, value);

    if (count) {
        json_integer_set(count, json_integer_value(count) + 1);
        return 0;
    }
    if (json_object_size(facet->counts) >= FACETS_KNOWN) {
        facet->others++;
        return 0;
    }
    return json_object_set_new_nocheck(facet->counts, value, json_integer(1)) == 0
               ? 0
               : later_fail(err, LATER_E_SYSTEM, "no memory");
}

int facets_add(struct facets *facets, const char *queue, const struct chosen *chosen,
               struct later_error *err)
{
    char value[FACETS_LENGTH + 1];
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < facets->count; i++) {
        struct facet *facet = &facets->all[i];

        if (facet->source->read(facet, queue, chosen, value))
            ok = facet_add(facet, value, err);
        else
            facet->none++;
    }
    return ok;
}

/* --- printing --- */

struct facet_row {
    const char *value;
    uint64_t count;
};

static int facet_compare(const void *one, const void *other)
{
    const struct facet_row *a = one, *b = other;

    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->value, b->value);
}

/* value: NULL = it has none; others: it has one of those that are not told apart. */
static void facet_print_row(const struct cli *cli, struct table *table, const char *name,
                            const char *value, bool others, uint64_t count)
{
    if (!cli->json) {
        table_text(table, PLAIN, name);
        table_text(table, value ? PLAIN : DIM, value ? value : others ? "(others)" : "(none)");
        table_number(table, PLAIN, count);
        return;
    }
    jsonl_line(stdout, "by:%s value:%s others:%c count:%ju", name, value, others, count);
}

static void facet_print(const struct facet *facet, const struct cli *cli, struct table *table)
{
    struct facet_row rows[FACETS_KNOWN];
    uint64_t others = facet->others;
    size_t count = 0;
    const char *value;
    json_t *number;

    json_object_foreach(facet->counts, value, number)
    {
        rows[count].value = value;
        rows[count++].count = (uint64_t)json_integer_value(number);
    }
    qsort(rows, count, sizeof *rows, facet_compare);
    for (size_t i = 0; i < count; i++) {
        if (i < FACETS_SHOWN)
            facet_print_row(cli, table, facet->name, rows[i].value, false, rows[i].count);
        else
            others += rows[i].count;
    }
    if (others > 0)
        facet_print_row(cli, table, facet->name, NULL, true, others);
    if (facet->none > 0)
        facet_print_row(cli, table, facet->name, NULL, false, facet->none);
}

void facets_print(const struct facets *facets, const struct cli *cli)
{
    static const char *const headings[] = { "BY", "VALUE", ">JOBS", NULL };
    struct table table;

    cli_table(cli, &table, headings);
    for (size_t i = 0; i < facets->count; i++)
        facet_print(&facets->all[i], cli, &table);
    table_end(&table);
}
