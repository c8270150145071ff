/* client.c: the blocking client: one connection, for which each call waits. */
#include "client/call.h"

#include "base/clock.h"
#include "job/document.h"
#include "redis/address.h"
#include "redis/password.h"
#include "redis/reply.h"
#include "redis/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_SECONDS 0.05 /* between tries while Redis is starting */
#define ANNOUNCED_MAX 32
#define PLANS_MAX     32
#define PLANS_HEARD   20   /* changes of a plan in a row, before giving up */
#define PLAN_PAUSE    0.05 /* seconds */
#define CALLS_MAX     500  /* calls of push_now whose numbers are in one set */
#define CALLS_TIME    60   /* for how many seconds a set gets numbers */

struct later_client {
    struct later_redis *redis;
    char prefix[LATER_PREFIX_MAX + 1];
    char shown[LATER_URL_SIZE]; /* its URL, for messages */
    double timeout, patience;
    size_t document_max;
    char why[512];          /* why the connection broke last */
    bool lasting;           /* later_call_lasting() */
    double heard;           /* later_clock(): when Redis last answered; 0: never */
    struct later_keys keys; /* of the queue or shard that was named last */
    /* Queues pushed to, which are registered once per connection. */
    char announced[ANNOUNCED_MAX][LATER_QUEUE_MAX + 1];
    size_t announced_count;
    /* The set in which Redis remembers calls of push_now: how many more, and until when
     * (later_clock()). */
    struct later_call_number call;
    unsigned calls_left;
    double calls_until;
    /* The last known plans of queues with shards. */
    struct {
        later_queue_name queue;
        struct later_plan plan;
    } plans[PLANS_MAX];
    size_t plan_count, plan_next;
};

static void client_on_down(void *arg, const char *why)
{
    struct later_client *client = arg;

    snprintf(client->why, sizeof client->why, "%s", why);
}

static struct later_redis *client_make_redis(struct later_client *client,
                                             const struct later_client_options *options,
                                             const char *url, struct later_error *err)
{
    char password[LATER_PASSWORD_MAX] = "", protocol[LATER_KEY_MAX];
    struct later_redis_options how = { .password = options->password_file ? password : NULL,
                                       .password_file = options->password_file,
                                       .name = options->name ? options->name : "later",
                                       .protocol = protocol,
                                       .connect_timeout = client->timeout,
                                       .down = client_on_down,
                                       .arg = client };
    struct later_redis *redis = NULL;

    later_key_protocol(protocol, client->prefix);
    if (later_address_parse(&how.address, url, err) < 0 ||
        (options->password_file &&
         later_password_read(options->password_file, password, LATER_E_USAGE, err) < 0))
        return NULL;
    later_address_shown(url, client->shown);
    redis = later_redis_new(&how);
    explicit_bzero(how.address.password, sizeof how.address.password);
    explicit_bzero(password, sizeof password);
    if (!redis)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    return redis;
}

struct later_client *later_client_open_with(const struct later_client_options *options,
                                            struct later_error *err)
{
    const char *url = options->url ? options->url : getenv("LATER_REDIS_URL");
    const char *prefix = options->prefix ? options->prefix : "later";
    struct later_client *client = calloc(1, sizeof *client);

    if (!client) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    url = url && *url ? url : "unix:" LATER_STATE_DIR "/redis.sock";
    client->timeout = options->timeout > 0 ? options->timeout : 2;
    client->patience = options->patience;
    client->document_max = options->document_max ? options->document_max : LATER_DOCUMENT_MAX;
    snprintf(client->prefix, sizeof client->prefix, "%s", prefix);
    if (!later_key_prefix_valid(prefix))
        later_fail(err, LATER_E_USAGE, "prefix: 1 to %d of [A-Za-z0-9_.:-]", LATER_PREFIX_MAX);
    else
        client->redis = client_make_redis(client, options, url, err);
    if (!client->redis) {
        free(client);
        return NULL;
    }
    return client;
}

struct later_client *later_client_open(const char *url, struct later_error *err)
{
    return later_client_open_with(&(struct later_client_options){ .url = url }, err);
}

void later_client_close(struct later_client *client)
{
    if (!client)
        return;
    later_redis_free(client->redis);
    free(client);
}

const char *later_call_prefix(const struct later_client *client)
{
    return client->prefix;
}

size_t later_call_document_max(const struct later_client *client)
{
    return client->document_max;
}

/* Most are asked for again by the next push: to copy them costs much less than to make them. */
int later_call_keys(struct later_client *client, const char *queue, struct later_keys *keys,
                    struct later_error *err)
{
    if (!later_key_shard_valid(queue))
        return later_call_whole(queue, err);
    if (strcmp(client->keys.queue, queue) != 0)
        later_keys_init(&client->keys, client->prefix, queue);
    *keys = client->keys;
    return 0;
}

int later_call_whole(const char *queue, struct later_error *err)
{
    if (later_key_queue_valid(queue))
        return 0;
    return later_fail(err, LATER_E_USAGE, "queue %.80s: a name is 1 to %d of [A-Za-z0-9_.-]", queue,
                      LATER_QUEUE_MAX);
}

/* --- plans of shards --- */

/* Returns its index in the table, or plan_count. */
static size_t find_plan(const struct later_client *client, const char *queue)
{
    size_t i = 0;

    while (i < client->plan_count && strcmp(client->plans[i].queue, queue) != 0)
        i++;
    return i;
}

struct later_plan later_call_plan(const struct later_client *client, const char *queue)
{
    size_t i = find_plan(client, queue);

    return i < client->plan_count ? client->plans[i].plan : (struct later_plan){ .epoch = 0 };
}

void later_call_learn(struct later_client *client, const char *queue, const char *part,
                      const char *words)
{
    size_t i = find_plan(client, queue);

    if (i == client->plan_count && i < PLANS_MAX)
        client->plan_count++;
    else if (i == client->plan_count)
        i = client->plan_next++ % PLANS_MAX;
    snprintf(client->plans[i].queue, sizeof client->plans[i].queue, "%s", queue);
    client->plans[i].plan = later_plan_parse(strcmp(queue, part) == 0 ? words : "");
}

int later_call_ask_plan(struct later_client *client, const char *queue, struct later_plan *plan,
                        struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    *plan = (struct later_plan){ .epoch = 0 };
    if (strchr(queue, '/'))
        return 0;
    if (later_call_keys(client, queue, &keys, err) < 0)
        return -1;
    later_command_say(&cmd, "GET %s", keys.name[LATER_KEY_SHARDS]);
    reply = later_call(client, &cmd, 0, true, err);
    if (!reply)
        return -1;
    *plan = later_plan_parse(later_reply_text(reply, NULL));
    later_reply_free(reply);
    return 0;
}

int later_call_await_plan(const char *queue, unsigned heard, struct later_error *err)
{
    if (heard >= PLANS_HEARD)
        return later_fail(err, LATER_E_REDIS,
                          "queue %s: its shards are being changed, or Redis has lost their number; "
                          "a laterd that serves the queue will mend that",
                          queue);
    if (heard > 2)
        later_sleep(PLAN_PAUSE);
    return 0;
}

/* Refused by a Redis that is away: all queues are registered again by the next pushes. */
static void client_on_named(void *arg, struct later_answer *answer)
{
    struct later_client *client = arg;

    if (answer->outcome == LATER_REFUSED && later_reply_away(answer->text))
        client->announced_count = 0;
}

/* Sends SADD for some queues. Best effort: their jobs are found without it. */
static void client_name_queues(struct later_client *client, char (*queues)[LATER_QUEUE_MAX + 1],
                               size_t count)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_queues(key, client->prefix);
    later_command_open(&cmd, count, "SADD %s", key);
    for (size_t i = 0; i < count; i++)
        later_command_text(&cmd, queues[i]);
    later_redis_send(client->redis, &cmd, client->timeout, client_on_named, client);
}

static bool connect_once(struct later_client *client)
{
    struct later_error why;

    client->why[0] = '\0';
    if (later_redis_connect(client->redis, &why) < 0)
        snprintf(client->why, sizeof client->why, "%.250s", why.text);
    while (!later_redis_up(client->redis) && !later_redis_down(client->redis))
        later_redis_wait(client->redis, later_clock() + client->timeout);
    return later_redis_up(client->redis);
}

/* Is Redis just starting? Its text, or the kernel's, must tell: there is no code for it. */
static bool starts(const struct later_client *client)
{
    return strstr(client->why, "LOADING ") || strstr(client->why, strerror(ECONNREFUSED)) ||
           strstr(client->why, strerror(ENOENT));
}

/* Is its socket's line of new connections full? A crowd that comes at once is let in one by one. */
static bool is_crowded(const struct later_client *client)
{
    return strstr(client->why, strerror(EAGAIN));
}

/* Is it one server without TLS? */
static bool is_plain(const struct later_client *client)
{
    struct later_address address;
    struct later_error ignored;

    return later_address_parse(&address, client->shown, &ignored) == 0 && address.host[0] &&
           !address.tls.on;
}

/* What helps where the kernel's words alone do not say it. */
static const char *client_remedy(const struct later_client *client)
{
    if (strncmp(client->shown, "unix:", 5) == 0 && strstr(client->why, strerror(EACCES)))
        return "; are you in the group of that socket (id)? A new member logs in again";
    if (strncmp(client->shown, "unix:", 5) == 0 &&
        (strstr(client->why, strerror(ENOENT)) || strstr(client->why, strerror(ECONNREFUSED))))
        return "; is laterd, or that Redis, running?";
    if ((strstr(client->why, strerror(ECONNRESET)) ||
         strstr(client->why, "closed the connection")) &&
        is_plain(client))
        return "; if that port is for TLS, its URL begins with rediss://";
    return "";
}

static int client_fail_connect(const struct later_client *client, struct later_error *err)
{
    size_t len = strlen(client->shown); /* some errors of the socket name it, too */
    bool named =
        strncmp(client->why, client->shown, len) == 0 && strncmp(client->why + len, ": ", 2) == 0;

    if (later_reply_denies(client->why))
        return later_fail(err, LATER_E_TOKEN,
                          "%s refuses us: %s; check --redis URL and its password file",
                          client->shown, client->why);
    return later_fail(err, LATER_E_REDIS, "cannot reach Redis at %s: %s%s", client->shown,
                      client->why + (named ? len + 2 : 0), client_remedy(client));
}

static int connected(struct later_client *client, struct later_error *err)
{
    double from, waited = 0;

    if (later_redis_up(client->redis))
        return 0;
    from = later_clock();
    for (; !connect_once(client); waited = later_clock() - from) {
        if (!(waited < client->patience && starts(client)) &&
            !(waited < client->timeout && is_crowded(client)))
            break;
        later_sleep(AGAIN_SECONDS);
    }
    if (later_redis_up(client->redis)) {
        client->patience = 0;
        if (client->announced_count)
            client_name_queues(client, client->announced, client->announced_count);
        return 0;
    }
    client->lasting = later_reply_denies(client->why) || later_redis_other_protocol(client->redis);
    return client_fail_connect(client, err);
}

/* Is it a right that our user lacks, or is it not taken at all? */
static bool client_is_denied(const char *error)
{
    static const char *const rights[] = { "NOPERM", "ERR The user executing the script can't",
                                          "ERR ACL failure in script" }; /* from Redis 7.2 on */
    size_t i = 0;

    while (i < sizeof rights / sizeof *rights && strncmp(error, rights[i], strlen(rights[i])) != 0)
        i++;
    return i < sizeof rights / sizeof *rights || later_reply_denies(error);
}

/* Redis says next with which words it was called: a whole script, of SCRIPT LOAD. */
static int fail_unknown(const char *error, struct later_error *err)
{
    const char *rest = strstr(error, ", with args");

    return later_fail(err, LATER_E_REDIS,
                      "Redis lacks a command that we need: %.*s; is it renamed there "
                      "(rename-command)?",
                      rest ? (int)(rest - error) : (int)strlen(error), error);
}

int later_call_check(const struct later_answer *answer, struct later_error *err)
{
    const char *words;

    switch (answer->outcome) {
    case LATER_ANSWERED:
        return 0;
    case LATER_REFUSED:
        if (later_shards_stale(answer->text, &words))
            return later_fail(err, LATER_E_REDIS, "%s", answer->text);
        if (client_is_denied(answer->text))
            return later_fail(err, LATER_E_TOKEN,
                              "Redis denies: %s; doc/protocol.md has the least rights",
                              answer->text);
        if (later_reply_lacks(answer->text))
            return fail_unknown(answer->text, err);
        if (answer->cmd && answer->cmd->script && strncmp(answer->text, "ERR ", 4) == 0)
            return later_fail(err, LATER_E_DATA, "%s", answer->text + 4);
        return later_fail(err, LATER_E_REDIS, "Redis refuses: %s", answer->text);
    case LATER_UNSENT:
        return later_fail(err, LATER_E_REDIS, "Redis: %s; nothing was done", answer->text);
    case LATER_UNKNOWN:
        break;
    }
    return later_fail(err, LATER_E_REDIS, "Redis: %s; it may or may not have been done",
                      answer->text);
}

bool later_call_alone(const struct later_answer *answer)
{
    return answer->outcome == LATER_REFUSED && strncmp(answer->text, "NOREPLICAS", 10) == 0;
}

void later_call_ask_sentinels(struct later_client *client)
{
    if (*later_redis_peer(client->redis))
        later_redis_disconnect(client->redis, "it has no replicas: Sentinels are asked again");
}

void later_call_wait(struct later_client *client)
{
    later_redis_wait(client->redis, later_clock() + client->timeout);
}

/* The answer of a call, on the stack of later_call(), which waits for it. */
struct waiting {
    bool done, again;
    bool alone;   /* the master has no replicas (NOREPLICAS) */
    bool lasting; /* it would be refused again */
    struct later_reply *reply;
    struct later_error *err;
};

static void client_take_answer(void *arg, struct later_answer *answer)
{
    struct waiting *waiting = arg;

    waiting->done = true;
    waiting->again = answer->outcome == LATER_UNSENT || answer->outcome == LATER_UNKNOWN;
    waiting->alone = later_call_alone(answer);
    waiting->lasting = answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON;
    if (later_call_check(answer, waiting->err) == 0) {
        waiting->reply = answer->reply;
        answer->reply = NULL;
    }
}

static struct later_command copy_of(const struct later_command *cmd)
{
    struct later_command copy = *cmd;

    copy.data = malloc(cmd->len ? cmd->len : 1);
    copy.room = copy.len;
    copy.failed = cmd->failed || !copy.data;
    if (copy.data)
        memcpy(copy.data, cmd->data, cmd->len);
    return copy;
}

static struct later_reply *call_once(struct later_client *client, struct later_command *cmd,
                                     double wait, struct waiting *waiting)
{
    waiting->done = waiting->again = false;
    waiting->reply = NULL;
    if (connected(client, waiting->err) < 0) {
        later_command_free(cmd);
        return NULL;
    }
    if (later_redis_send(client->redis, cmd, client->timeout + wait, client_take_answer, waiting) <
        0) {
        later_fail(waiting->err, LATER_E_SYSTEM, "no memory for the command");
        return NULL;
    }
    while (!waiting->done)
        later_redis_wait(client->redis, later_clock() + client->timeout + wait);
    client->lasting = waiting->lasting;
    if (waiting->alone)
        later_call_ask_sentinels(client);
    if (waiting->reply)
        client->heard = later_clock();
    return waiting->reply;
}

struct later_reply *later_call(struct later_client *client, struct later_command *cmd, double wait,
                               bool repeat, struct later_error *err)
{
    struct waiting waiting = { .err = err };
    struct later_command spare = { 0 };
    struct later_reply *reply;

    if (repeat)
        spare = copy_of(cmd);
    reply = call_once(client, cmd, wait, &waiting);
    if (!reply && waiting.again && repeat)
        reply = call_once(client, &spare, wait, &waiting);
    later_command_free(&spare);
    return reply;
}

int later_call_add(struct later_client *client, struct later_command *cmd, later_answer_fn *fn,
                   void *arg, struct later_error *err)
{
    if (connected(client, err) < 0) {
        later_command_free(cmd);
        return -1;
    }
    if (later_redis_send(client->redis, cmd, client->timeout, fn, arg) < 0)
        return later_fail(err, LATER_E_SYSTEM, "no memory for the command");
    return 0;
}

int later_call_begin(struct later_client *client, struct later_command *cmd, later_answer_fn *fn,
                     void *arg, struct later_error *err)
{
    if (later_call_add(client, cmd, fn, arg, err) < 0)
        return -1;
    later_redis_flush(client->redis);
    return 0;
}

int later_call_drain(struct later_client *client, struct later_error *err)
{
    while (later_redis_pending(client->redis) > 0)
        later_redis_wait(client->redis, later_clock() + client->timeout);
    if (later_redis_down(client->redis))
        return later_fail(err, LATER_E_REDIS, "Redis at %s: %s", client->shown, client->why);
    client->heard = later_clock();
    return 0;
}

bool later_call_lasting(const struct later_client *client)
{
    return client->lasting;
}

double later_call_silence(const struct later_client *client)
{
    return client->heard > 0 ? later_clock() - client->heard : -1;
}

void later_call_abort(struct later_client *client)
{
    later_redis_disconnect(client->redis, "given up");
}

const char *later_call_why(const struct later_client *client)
{
    return client->why;
}

struct later_redis *later_call_redis(const struct later_client *client)
{
    return client->redis;
}

struct later_call_number later_call_number(struct later_client *client, uint64_t bits)
{
    double now = later_clock();

    if (client->calls_left == 0 || now >= client->calls_until) {
        later_document_id(client->call.set);
        client->calls_left = CALLS_MAX;
        client->calls_until = now + CALLS_TIME;
    }
    client->calls_left--;
    later_document_chance(client->call.number, bits);
    return client->call;
}

/* Without a connection this is left for later. To connect here would cost a caller whose Redis is
 * away its timeout twice. */
void later_call_announce(struct later_client *client, const struct later_keys *keys)
{
    char name[1][LATER_QUEUE_MAX + 1];

    for (size_t i = 0; i < client->announced_count; i++) {
        if (strcmp(client->announced[i], keys->queue) == 0)
            return;
    }
    memcpy(name[0], keys->queue, sizeof name[0]);
    if (client->announced_count < ANNOUNCED_MAX)
        memcpy(client->announced[client->announced_count++], name[0], sizeof name[0]);
    if (later_redis_up(client->redis))
        client_name_queues(client, name, 1);
}
