/* members.c: finding members of a set. */
#include "jobs/members.h"

#include "queue/inspect.h"
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000000000 /* elements: what Redis says beyond is not believed */

/* Of a table of so many elements no scan takes more pages, even while it is made larger or smaller:
 * an end that does not come by then never comes. */
static int most_pages(struct cli *cli, const struct later_keys *keys, enum later_key key,
                      uint64_t *pages, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int64_t count;

    later_inspect_count(&cmd, keys, key);
    reply = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
    if (!reply)
        return -1;
    count = later_reply_int(reply);
    *pages = 1000 + 4 * (uint64_t)(count < 0 ? 0 : count < COUNT_MAX ? count : COUNT_MAX);
    later_reply_free(reply);
    return 0;
}

/* What is called for each element: one of the two. */
struct scan {
    members_fn *member;
    members_hash_fn *pair;
    void *arg;
};

static int take_page(const struct scan *scan, const struct later_reply *page)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i + 1 < later_reply_count(page); i += 2) {
        size_t len;
        const char *member = later_reply_text(later_reply_at(page, i), &len);

        if (scan->member)
            result = scan->member(scan->arg, member, len);
        else
            result =
                scan->pair(scan->arg, member, later_reply_text(later_reply_at(page, i + 1), NULL));
    }
    return result;
}

static int scan_all(struct cli *cli, const struct later_keys *keys, enum later_key key,
                    const char *glob, const struct scan *scan, struct later_error *err)
{
    char cursor[32] = "0";
    uint64_t pages;
    int result = most_pages(cli, keys, key, &pages, err);

    while (result == 0) {
        struct later_command cmd = { 0 };
        struct later_reply *reply;

        if (pages-- == 0)
            return later_fail(err, LATER_E_REDIS, "Redis does not come to an end of %s",
                              keys->name[key]);
        later_inspect_scan(&cmd, keys, key, cursor, glob);
        reply = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
        if (!reply)
            return -1;
        result = take_page(scan, later_inspect_scanned(reply, cursor));
        later_reply_free(reply);
        if (strcmp(cursor, "0") == 0)
            break;
    }
    return result;
}

int members_scan(struct cli *cli, const struct later_keys *keys, enum later_key key,
                 const char *glob, members_fn *fn, void *arg, struct later_error *err)
{
    return scan_all(cli, keys, key, glob, &(struct scan){ .member = fn, .arg = arg }, err);
}

int members_scan_hash(struct cli *cli, const struct later_keys *keys, enum later_key key,
                      members_hash_fn *fn, void *arg, struct later_error *err)
{
    return scan_all(cli, keys, key, NULL, &(struct scan){ .pair = fn, .arg = arg }, err);
}

struct wanted {
    const char *id;
    char *member;
};

static int take_if_wanted(void *arg, const char *member, size_t len)
{
    struct wanted *wanted = arg;

    /* An id may itself hold colons: what stands behind the token must be all of it. */
    if (len <= LATER_TOKEN_LEN + 1 || strcmp(member + LATER_TOKEN_LEN + 1, wanted->id) != 0)
        return 0;
    wanted->member = strdup(member);
    return 1;
}

int members_of_id(struct cli *cli, const struct later_keys *keys, const char *id, char **member,
                  struct later_error *err)
{
    struct wanted wanted = { .id = id };
    char suffix[256], *glob = NULL;
    int result = 0;

    *member = NULL;
    if (strlen(id) + 2 > sizeof suffix)
        return 0; /* no id is that long */
    suffix[0] = ':';
    strcpy(suffix + 1, id);
    glob = later_inspect_glob("", suffix);
    if (!glob)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    result = members_scan(cli, keys, LATER_KEY_RESERVED, glob, take_if_wanted, &wanted, err);
    free(glob);
    if (result > 0 && !wanted.member)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    *member = wanted.member;
    return result < 0 ? -1 : 0;
}

/* --- by token --- */

#define TAKEN_MAX LATER_BATCH_MAX /* a reserve takes no more */

struct taken {
    char *ids[TAKEN_MAX];
    struct later_settlement jobs[TAKEN_MAX];
    size_t count;
};

static int note_taken(void *arg, const char *member, size_t len)
{
    struct taken *taken = arg;

    if (len <= LATER_TOKEN_LEN + 1 || taken->count == TAKEN_MAX)
        return 0;
    taken->ids[taken->count] = strdup(member + LATER_TOKEN_LEN + 1);
    taken->count += taken->ids[taken->count] != NULL;
    return 0;
}

static int give_back(struct cli *cli, const struct later_keys *keys, const char *token,
                     struct taken *taken, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    for (size_t i = 0; i < taken->count; i++)
        taken->jobs[i] = (struct later_settlement){ .token = token, .id = taken->ids[i] };
    later_queue_settle(&cmd, keys, LATER_VERB_RETURN, 0, taken->jobs, taken->count);
    reply = cli_call(cli, &cmd, later_verb_script(LATER_VERB_RETURN), err);
    later_reply_free(reply);
    return reply ? (int)taken->count : -1;
}

int members_return(struct cli *cli, const struct later_keys *keys, const char *token,
                   struct later_error *err)
{
    struct taken *taken = calloc(1, sizeof *taken);
    char prefix[LATER_TOKEN_LEN + 2], *glob = NULL;
    int result = -1;

    memcpy(prefix, token, LATER_TOKEN_LEN);
    strcpy(prefix + LATER_TOKEN_LEN, ":");
    glob = taken ? later_inspect_glob(prefix, "") : NULL;
    if (!glob)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    else
        result = members_scan(cli, keys, LATER_KEY_RESERVED, glob, note_taken, taken, err);
    if (result == 0 && taken->count > 0)
        result = give_back(cli, keys, token, taken, err);
    for (size_t i = 0; taken && i < taken->count; i++)
        free(taken->ids[i]);
    free(taken);
    free(glob);
    return result;
}
