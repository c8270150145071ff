/* members.c: finding members of a set. */
#include "jobs/members.h"

#include "queue/inspect.h"
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

int members_scan(struct cli *cli, const struct later_keys *keys, enum later_key key,
                 const char *glob, members_fn *fn, void *arg, struct later_error *err)
{
    char cursor[32] = "0";
    int result = 0;

    do {
        struct later_command cmd = { 0 };
        const struct later_reply *members;
        struct later_reply *reply;

        later_inspect_scan(&cmd, keys, key, cursor, glob);
        reply = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
        if (!reply)
            return -1;
        members = later_inspect_scanned(reply, cursor);
        for (size_t i = 0; result == 0 && i < later_reply_count(members); i += 2) {
            size_t len;
            const char *member = later_reply_text(later_reply_at(members, i), &len);

            result = fn(arg, member, len);
        }
        later_reply_free(reply);
    } while (result == 0 && strcmp(cursor, "0") != 0);
    return result;
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
