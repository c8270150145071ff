/* check_scan.c: looks at the members of a queue's sets. */
#include "check/check.h"

#include "base/grow.h"
#include "queue/inspect.h"
#include "choose/members.h"
#include "queue/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK        250    /* members looked up together */
#define RESERVED_MAX 100000 /* how many reservations are compared with each other */
#define SETS         5

/* The order is that of *locate*. */
static const enum later_key sets[SETS] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_DEAD,
                                           LATER_KEY_RESERVED, LATER_KEY_WAITING };

/* A walk through one set. */
struct walk {
    struct cli *cli;
    const struct later_keys *keys;
    enum later_key set;
    struct check_scan *scan;
    struct later_error *err;
    char *members[CHUNK]; /* owned */
    size_t count;
    bool suspect[CHUNK];
    size_t answered; /* of the present HEXISTS batch */
    bool refused;    /* Redis has refused a question; *err has its words */
    char **reserved; /* every `TOKEN:id` seen, at most RESERVED_MAX; owned */
    size_t reserved_count, reserved_room;
};

static const char *id_of(const struct walk *walk, const char *member)
{
    size_t skip = walk->set == LATER_KEY_RESERVED ? LATER_TOKEN_LEN + 1 : 0;

    return strlen(member) > skip ? member + skip : "";
}

struct token {
    char text[LATER_TOKEN_LEN + 1];
};

static struct token token_of(const char *member)
{
    struct token token = { "" };

    snprintf(token.text, sizeof token.text, "%s", member);
    return token;
}

void check_scan_fault(struct check_scan *scan, const char *id, const char *what)
{
    struct later_error words;

    if (scan->faults++ == 0) {
        later_fail(&words, LATER_E_DATA, "%.200s %s", id, what);
        memcpy(scan->fault, words.text, sizeof scan->fault - 1);
    }
}

/* --- what looks wrong, at one moment --- */

static int check_scan_look_again(struct walk *walk, const char *member)
{
    const char *id = id_of(walk, member);
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    char what[100] = "is in";
    int count = 0, plain = 0;
    bool in_own = false, known;

    later_inspect_locate(&cmd, walk->keys, id,
                         walk->set == LATER_KEY_RESERVED ? token_of(member).text : "");
    reply = cli_call(walk->cli, &cmd, walk->err);
    if (!reply)
        return -1;
    for (size_t i = 0; i < SETS; i++) {
        if (!later_reply_int(later_reply_at(reply, i)))
            continue;
        count++;
        plain += sets[i] == LATER_KEY_READY || sets[i] == LATER_KEY_DELAYED;
        in_own |= sets[i] == walk->set;
        strcat(strcat(what, " "), later_key_name(sets[i]));
    }
    known = later_reply_int(later_reply_at(reply, SETS)) != 0;
    /* Two that are not adopted yet may have the same bytes; they will get two ids. */
    if (count > 1 && (known || plain < count))
        check_scan_fault(walk->scan, id, what);
    else if (in_own && !known && walk->set != LATER_KEY_READY && walk->set != LATER_KEY_DELAYED)
        check_scan_fault(walk->scan, id, "has no document");
    later_reply_free(reply);
    return 0;
}

/* --- a chunk of members --- */

static void take_exists(void *arg, struct later_answer *answer)
{
    struct walk *walk = arg;
    size_t i = walk->answered++;

    if (answer->outcome != LATER_ANSWERED || later_reply_int(answer->reply) > 0)
        return;
    if (walk->set == LATER_KEY_READY || walk->set == LATER_KEY_DELAYED)
        walk->scan->unadopted++;
    else
        walk->suspect[i] = true;
}

static int check_scan_ask_documents(struct walk *walk)
{
    walk->answered = 0;
    for (size_t i = 0; i < walk->count; i++) {
        const char *id = id_of(walk, walk->members[i]);
        struct later_command cmd = { 0 };

        later_inspect_exists(&cmd, walk->keys, id, strlen(id));
        if (later_call_add(walk->cli->client, &cmd, take_exists, walk, walk->err) < 0)
            return -1;
    }
    return later_call_drain(walk->cli->client, walk->err);
}

static void take_scores(void *arg, struct later_answer *answer)
{
    struct walk *walk = arg;

    if (!walk->refused && later_call_check(answer, walk->err) < 0)
        walk->refused = true;
    for (size_t i = 0; i < later_reply_count(answer->reply) && i < walk->count; i++)
        walk->suspect[i] |= !later_reply_is_nil(later_reply_at(answer->reply, i));
}

/* Which of the members are also in another set? */
static int ask_set(struct walk *walk, enum later_key other)
{
    struct later_command cmd = { 0 };

    later_inspect_scores(&cmd, walk->keys, other, walk->count);
    for (size_t i = 0; i < walk->count; i++)
        later_command_text(&cmd, id_of(walk, walk->members[i]));
    return later_call_add(walk->cli->client, &cmd, take_scores, walk, walk->err);
}

static int check_scan_look_at_chunk(struct walk *walk)
{
    int ok = 0;

    memset(walk->suspect, 0, sizeof walk->suspect);
    for (size_t i = 0; ok == 0 && walk->count > 0 && i < SETS; i++) {
        if (sets[i] != walk->set && sets[i] != LATER_KEY_RESERVED)
            ok = ask_set(walk, sets[i]);
    }
    if (ok == 0 && walk->count > 0) /* and waits for all answers */
        ok = check_scan_ask_documents(walk);
    if (ok < 0)
        later_call_abort(walk->cli->client);
    if (walk->refused)
        ok = -1;
    for (size_t i = 0; i < walk->count; i++) {
        if (ok == 0 && walk->suspect[i])
            ok = check_scan_look_again(walk, walk->members[i]);
        free(walk->members[i]);
    }
    walk->scan->looked_at += walk->count;
    walk->count = 0;
    return ok;
}

/* --- the reservations, compared with each other --- */

static void keep_reserved(struct walk *walk, const char *member)
{
    if (walk->reserved_count == RESERVED_MAX ||
        !later_grow(&walk->reserved, &walk->reserved_room, walk->reserved_count,
                    sizeof *walk->reserved))
        return;
    walk->reserved[walk->reserved_count] = strdup(member);
    walk->reserved_count += walk->reserved[walk->reserved_count] != NULL;
}

static int by_id(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int order = strcmp(x + LATER_TOKEN_LEN + 1, y + LATER_TOKEN_LEN + 1);

    return order ? order : strcmp(x, y);
}

/* Returns whether `TOKEN:id` is reserved, or -1 with *err. */
static int is_held(struct walk *walk, const char *member)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    int held;

    later_inspect_member(&cmd, walk->keys, token_of(member).text, member + LATER_TOKEN_LEN + 1);
    reply = cli_call(walk->cli, &cmd, walk->err);
    held = reply ? !later_reply_is_nil(reply) : -1;
    later_reply_free(reply);
    return held;
}

/* Are two tokens of one id both valid? An id never comes back to a token that has lost it, so two
 * looks are enough. */
static int look_at_pair(struct walk *walk, const char *a, const char *b)
{
    int first = is_held(walk, a), second = first > 0 ? is_held(walk, b) : 0;

    if (first > 0 && second > 0 && (first = is_held(walk, a)) > 0)
        check_scan_fault(walk->scan, a + LATER_TOKEN_LEN + 1, "is reserved twice");
    return first < 0 || second < 0 ? -1 : 0;
}

static int compare_reserved(struct walk *walk)
{
    int ok = 0;

    if (walk->reserved_count > 0)
        qsort(walk->reserved, walk->reserved_count, sizeof *walk->reserved, by_id);
    for (size_t i = 1; ok == 0 && i < walk->reserved_count; i++) {
        const char *a = walk->reserved[i - 1], *b = walk->reserved[i];

        if (strcmp(a + LATER_TOKEN_LEN + 1, b + LATER_TOKEN_LEN + 1) == 0 && strcmp(a, b) != 0)
            ok = look_at_pair(walk, a, b);
    }
    for (size_t i = 0; i < walk->reserved_count; i++)
        free(walk->reserved[i]);
    free(walk->reserved);
    return ok;
}

/* --- all --- */

static int check_scan_take_member(void *arg, const char *member, size_t len, const char *score)
{
    struct walk *walk = arg;

    (void)score;
    if (walk->set == LATER_KEY_RESERVED && len > LATER_TOKEN_LEN + 1)
        keep_reserved(walk, member);
    walk->members[walk->count] = strdup(member);
    if (!walk->members[walk->count])
        return later_fail(walk->err, LATER_E_SYSTEM, "no memory");
    walk->count++;
    return walk->count == CHUNK ? check_scan_look_at_chunk(walk) : 0;
}

/* Reads what each token holds, as `TOKEN:id`. */
static int scan_reserved(struct walk *walk)
{
    struct later_reply *tokens;
    int ok = members_tokens(walk->cli, walk->keys, &tokens, walk->err);

    for (size_t i = 0; ok == 0 && i < later_reply_count(tokens) / 2; i++) {
        const char *token = members_token(tokens, i);
        struct later_reply *held = members_held(walk->cli, walk->keys, token, walk->err);

        ok = held ? 0 : -1;
        for (size_t n = 0; ok == 0 && n < later_reply_count(held); n++) {
            char member[LATER_TOKEN_LEN + 1 + 256];
            size_t len = (size_t)snprintf(member, sizeof member, "%.*s:%.255s", LATER_TOKEN_LEN,
                                          token, later_reply_text_at(held, n));

            walk->scan->reserved++;
            ok = check_scan_take_member(walk, member, len, "");
        }
        later_reply_free(held);
    }
    later_reply_free(tokens);
    return ok;
}

int check_scan(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
               struct later_error *err)
{
    struct walk walk = { .cli = cli, .keys = keys, .scan = scan, .err = err };
    int ok = 0;

    *scan = (struct check_scan){ 0 };
    for (size_t i = 0; ok == 0 && i < SETS; i++) {
        walk.set = sets[i];
        if (sets[i] == LATER_KEY_RESERVED)
            ok = scan_reserved(&walk);
        else
            ok = members_scan(cli, keys, sets[i], check_scan_take_member, &walk, err);
        if (ok == 0)
            ok = check_scan_look_at_chunk(&walk);
    }
    for (size_t i = 0; i < walk.count; i++) /* what is left of a chunk after a failure */
        free(walk.members[i]);
    if (compare_reserved(&walk) < 0)
        ok = -1;
    return ok;
}
