/* check_beside.c: checks records, wakes, kept jobs and documents. */
#include "check/check.h"

#include "choose/members.h"
#include "queue/inspect.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK      250 /* ids per round trip */
#define KEPT_TRIES 5

struct beside;

/* A yes-or-no question about many ids, and the function that looks closer at each id with a no. */
struct question {
    void (*encode)(struct later_command *cmd, const struct later_keys *keys, const char *id);
    bool (*is_yes)(const struct later_reply *reply);
    int (*look)(struct beside *beside, const char *id);
};

struct beside {
    struct cli *cli;
    const struct later_keys *keys;
    struct check_scan *scan;
    struct later_error *err;
    const struct question *question;
    char *ids[CHUNK]; /* ids of records or of documents; owned */
    bool denied[CHUNK];
    size_t count, answered;
};

/* --- many at once --- */

static void check_beside_take_answer(void *arg, struct later_answer *answer)
{
    struct beside *beside = arg;

    beside->denied[beside->answered++] =
        answer->outcome == LATER_ANSWERED && !beside->question->is_yes(answer->reply);
}

static int ask_chunk(struct beside *beside)
{
    int ok = 0;

    beside->answered = 0;
    for (size_t i = 0; ok == 0 && i < beside->count; i++) {
        struct later_command cmd = { 0 };

        beside->question->encode(&cmd, beside->keys, beside->ids[i]);
        ok = later_call_begin(beside->cli->client, &cmd, check_beside_take_answer, beside,
                              beside->err);
    }
    return cli_drain(beside->cli, ok, beside->err);
}

static int check_beside_look_at_chunk(struct beside *beside)
{
    int ok = ask_chunk(beside);

    for (size_t i = 0; i < beside->count; i++) {
        if (ok == 0 && beside->denied[i])
            ok = beside->question->look(beside, beside->ids[i]);
        free(beside->ids[i]);
    }
    beside->count = 0;
    return ok;
}

static int check_beside_add(struct beside *beside, const char *id)
{
    beside->ids[beside->count] = strdup(id);
    if (!beside->ids[beside->count])
        return later_fail(beside->err, LATER_E_SYSTEM, "no memory");
    beside->count++;
    return beside->count == CHUNK ? check_beside_look_at_chunk(beside) : 0;
}

/* Asks the question about each field of a hash that fn adds. */
static int check_beside_look_at_all(struct beside *beside, enum later_key key, members_fn *fn,
                                    const struct question *question)
{
    beside->question = question;
    if (members_scan(beside->cli, beside->keys, key, fn, beside, beside->err) == 0)
        return check_beside_look_at_chunk(beside);
    while (beside->count > 0)
        free(beside->ids[--beside->count]);
    return -1;
}

/* --- records --- */

static void ask_exists(struct later_command *cmd, const struct later_keys *keys, const char *id)
{
    later_inspect_exists(cmd, keys, id, strlen(id));
}

static bool exists(const struct later_reply *reply)
{
    return later_reply_int(reply) > 0;
}

/* Returns 1 or 0, or -1 with *err. */
static int check_beside_has_job(struct beside *beside, const char *id)
{
    struct later_command cmd = { 0 };

    ask_exists(&cmd, beside->keys, id);
    return (int)cli_count(cli_call(beside->cli, &cmd, beside->err));
}

/* A record that says until when an id stays taken outlives its job. */
static bool outlives(const char *record)
{
    return strncmp(record, "t=", 2) == 0 || strstr(record, "\nt=");
}

/* Returns 1 if the id has a record that needs a job, 0 if not, -1 with *err. */
static int has_own_record(struct beside *beside, const char *id)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    const char *record;
    int result;

    later_inspect_fields(&cmd, beside->keys, LATER_KEY_RECORDS, 1);
    later_command_text(&cmd, id);
    reply = cli_call(beside->cli, &cmd, beside->err);
    if (!reply)
        return -1;
    record = later_reply_text_at(reply, 0);
    result = !later_reply_is_nil(later_reply_at(reply, 0)) && !outlives(record);
    later_reply_free(reply);
    return result;
}

/* A job may come or go meanwhile, and may leave a record for its taken id. So the record must be
 * there between two looks for the job before it counts as a fault. */
static int check_beside_look_again(struct beside *beside, const char *id)
{
    int record = has_own_record(beside, id);
    int job = record > 0 ? check_beside_has_job(beside, id) : 1;

    if (job == 0)
        check_scan_fault(beside->scan, id, "has a record and no job");
    return record < 0 || job < 0 ? -1 : 0;
}

static int take_record(void *arg, const char *id, size_t len, const char *record)
{
    (void)len;
    return outlives(record) ? 0 : check_beside_add(arg, id);
}

/* --- done jobs --- */

/* Jobs come and go meanwhile, so the number of documents must lie between two counts of the ids.
 * That may take several tries. */
static int look_at_kept(struct beside *beside)
{
    int64_t counts[3]; /* ids, documents, ids */

    for (int i = 0; i < KEPT_TRIES; i++) {
        for (int n = 0; n < 3; n++) {
            counts[n] = members_count(beside->cli, beside->keys,
                                      n == 1 ? LATER_KEY_KEPT : LATER_KEY_DONE, beside->err);
            if (counts[n] < 0)
                return -1;
        }
        if ((counts[0] <= counts[1] && counts[1] <= counts[2]) ||
            (counts[0] >= counts[1] && counts[1] >= counts[2]))
            return 0;
    }
    check_scan_fault(beside->scan, "done", "and kept differ in number");
    return 0;
}

/* --- documents --- */

static void ask_states(struct later_command *cmd, const struct later_keys *keys, const char *id)
{
    later_inspect_locate(cmd, keys, id, "");
}

/* Is it in ready, delayed, dead or waiting? The token of a reserved job is not known here. */
static bool has_set(const struct later_reply *reply)
{
    bool found = false;

    for (size_t i = 0; i < 5; i++)
        found = found || later_reply_int(later_reply_at(reply, i)) > 0;
    return found;
}

/* Returns 1 if it is in one of the five sets, 0 if not, -1 with *err. */
static int has_state(struct beside *beside, const char *id)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    char token[LATER_TOKEN_LEN + 1];
    bool found;

    ask_states(&cmd, beside->keys, id);
    reply = cli_call(beside->cli, &cmd, beside->err);
    if (!reply)
        return -1;
    found = has_set(reply);
    later_reply_free(reply);
    if (found)
        return 1;
    if (members_token_of(beside->cli, beside->keys, id, token, beside->err) < 0)
        return -1;
    return *token != '\0';
}

/* A job that is moving from one set to another is found at the second look. */
static int look_at_document(struct beside *beside, const char *id)
{
    int found = has_state(beside, id);

    if (found == 0)
        found = has_state(beside, id);
    if (found == 0)
        found = 1 - check_beside_has_job(beside, id);
    if (found == 0)
        check_scan_fault(beside->scan, id, "has a document and is in no set");
    return found < 0 || found > 1 ? -1 : 0;
}

static int check_beside_take_document(void *arg, const char *id, size_t len, const char *document)
{
    (void)len;
    (void)document;
    return check_beside_add(arg, id);
}

/* --- wakes --- */

static int look_at_wakes(struct beside *beside)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_inspect_second_wake(&cmd, beside->keys);
    reply = cli_call(beside->cli, &cmd, beside->err);
    if (!reply)
        return -1;
    if (!later_reply_is_nil(reply))
        check_scan_fault(beside->scan, "wake", "has more than one element");
    later_reply_free(reply);
    return 0;
}

int check_beside(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                 struct later_error *err)
{
    static const struct question of_a_job = { ask_exists, exists, check_beside_look_again };
    struct beside beside = { .cli = cli, .keys = keys, .scan = scan, .err = err };

    if (look_at_wakes(&beside) < 0 || look_at_kept(&beside) < 0)
        return -1;
    return check_beside_look_at_all(&beside, LATER_KEY_RECORDS, take_record, &of_a_job);
}

/* Most documents are in a set. Only the others are looked at one by one. */
int check_documents(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                    struct later_error *err)
{
    static const struct question in_a_set = { ask_states, has_set, look_at_document };
    struct beside beside = { .cli = cli, .keys = keys, .scan = scan, .err = err };

    return check_beside_look_at_all(&beside, LATER_KEY_JOBS, check_beside_take_document, &in_a_set);
}
