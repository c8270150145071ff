/* groups.c: the groups that share a queue. */
#include "queues/groups.h"

#include "base/grow.h"
#include "choose/members.h"
#include "queue/inspect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKED_AT                                                                                  \
    500 /* ready jobs whose ages are read: the oldest of each group is among the first */

void groups_free(struct group_list *list)
{
    free(list->groups);
    *list = (struct group_list){ 0 };
}

static struct group *groups_find(struct group_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->groups[i].name, name) == 0)
            return &list->groups[i];
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static int by_ready(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->ready != y->ready)
        return x->ready < y->ready ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Adds a field of `fair`: `PRIORITY GROUP`, and `TAG COUNT`. Those of a priority itself have no
 * group. A field may come twice, but rarely does. Returns 1 without memory. */
static int groups_add(void *arg, const char *field, size_t len, const char *value)
{
    const char *name = strchr(field, ' '), *count = strchr(value, ' ');
    uint64_t ready = count ? strtoull(count + 1, NULL, 10) : 0;
    struct group_list *list = arg;
    struct group *more;

    (void)len;
    if (!name || !ready || strlen(name + 1) > LATER_GROUP_MAX)
        return 0;
    if (!later_grow(&list->groups, &list->room, list->count, sizeof *list->groups))
        return 1;
    more = &list->groups[list->count++];
    *more = (struct group){ .ready = ready, .oldest = -1 };
    strcpy(more->name, name + 1);
    return 0;
}

/* A group is there once for each priority and part; these become one. */
static void groups_merge(struct group_list *list)
{
    size_t kept = 0;

    if (list->count > 1)
        qsort(list->groups, list->count, sizeof *list->groups, by_name);
    for (size_t i = 0; i < list->count; i++) {
        if (kept && strcmp(list->groups[kept - 1].name, list->groups[i].name) == 0)
            list->groups[kept - 1].ready += list->groups[i].ready;
        else
            list->groups[kept++] = list->groups[i];
    }
    list->count = kept;
    if (kept > 1)
        qsort(list->groups, kept, sizeof *list->groups, by_ready);
}

/* Notes the ages of the groups' oldest jobs, as far as these records tell. */
static void groups_note(struct group_list *list, const struct later_reply *records, double now)
{
    for (size_t i = 0; i < later_reply_count(records); i++) {
        struct later_record record;
        char name[LATER_GROUP_MAX + 1] = "";
        struct group *group;
        const char *text;
        size_t len;

        text = later_reply_text(later_reply_at(records, i), &len);
        later_record_read(&record, text, len);
        if (!(record.since > 0) || record.group_len > LATER_GROUP_MAX)
            continue;
        memcpy(name, record.group, record.group_len);
        group = groups_find(list, name);
        if (group)
            group->oldest = fmax(group->oldest, fmax(now - record.since, 0));
    }
}

/* Asks for the first members of ready and their records, and reads these. */
static int groups_look(struct cli *cli, const struct later_keys *keys, double now,
                       struct group_list *list, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *members, *records = NULL;
    size_t count;

    later_inspect_from(&cmd, keys, LATER_KEY_READY, "-inf", 0, LOOKED_AT);
    members = cli_call(cli, &cmd, err);
    count = later_reply_count(members) / 2;
    if (count > 0)
        later_inspect_fields(&cmd, keys, LATER_KEY_RECORDS, count);
    for (size_t i = 0; i < count; i++) {
        size_t len;
        const char *member = later_reply_text(later_reply_at(members, 2 * i), &len);

        later_command_bytes(&cmd, member, len);
    }
    if (count > 0)
        records = cli_call(cli, &cmd, err);
    groups_note(list, records, now);
    later_reply_free(members);
    later_reply_free(records);
    return members && (records || count == 0) ? 0 : -1;
}

int groups_count(struct cli *cli, const struct whole *whole, struct group_list *list,
                 struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < whole->count; i++)
        ok = members_scan(cli, &whole->parts[i], LATER_KEY_FAIR, groups_add, list, err);
    if (ok != 0)
        return ok > 0 ? later_fail(err, LATER_E_SYSTEM, "no memory") : -1;
    groups_merge(list);
    return 0;
}

int groups_read(struct cli *cli, const struct whole *whole, struct group_list *list,
                struct later_error *err)
{
    double now;

    if (groups_count(cli, whole, list, err) < 0)
        return -1;
    if (!list->count || cli_clock(cli, &now, err) < 0)
        return list->count ? -1 : 0;
    for (size_t i = 0; i < whole->count; i++) {
        if (groups_look(cli, &whole->parts[i], now, list, err) < 0)
            return -1;
    }
    return 0;
}
