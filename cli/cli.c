/* cli.c: what the commands share. */
#include "cli.h"

#include "ahead.h"
#include "base/duration.h"
#include "base/printable.h"
#include "output/jsonl.h"
#include "queue/inspect.h"

#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE     5   /* seconds a call may take */
#define FIRST_START  2   /* seconds to wait for a Redis that is just starting */
#define NODE_TIMEOUT 5.0 /* seconds a node of a Cluster may take */

/* The usage begins with the words that are wanted, in their order. */
static int cli_missing_word(const struct cli *cli, struct later_error *err)
{
    const char *word = cli->command->usage;

    for (int i = 0; i < cli->args.count; i++)
        word += strcspn(word, " ") + 1;
    return later_fail(err, LATER_E_USAGE, "%.*s is missing", (int)strcspn(word, " "), word);
}

int cli_check_words(const struct cli *cli, struct later_error *err)
{
    if (cli->args.count < cli->command->min)
        return cli_missing_word(cli, err);
    if (cli->command->max >= 0 && cli->args.count > cli->command->max)
        return later_fail(err, LATER_E_USAGE,
                          "there are too many words, from `%.60s` on; one with spaces wants quotes",
                          cli->args.words[cli->command->max]);
    if (cli->command->instead && !cli->args.program &&
        (cli->args.count == 0 || args_flag(&cli->args, cli->command->instead)))
        return 0;
    if (cli->command->program && (!cli->args.program || !cli->args.program[0]))
        return later_fail(err, LATER_E_USAGE, "`-- PROGRAM` is missing");
    return 0;
}

static const struct cli_verb *cli_missing_verb(const struct cli_verb *verbs, size_t count,
                                               struct later_error *err)
{
    char all[120] = "";

    for (size_t i = 0; i < count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i == 0          ? ""
                 : i < count - 1 ? ", "
                                 : " or ",
                 verbs[i].name);
    later_fail(err, LATER_E_USAGE, "a verb is missing: %s", all);
    return NULL;
}

const struct cli_verb *cli_verb(const struct cli *cli, const struct cli_verb *verbs, size_t count,
                                struct later_error *err)
{
    const char *names[CLI_VERBS_MAX], *word = cli->args.words[0];
    char meant[ARGS_MEANT];
    int words = cli->args.count - 1;

    if (words < 0)
        return cli_missing_verb(verbs, count, err);
    for (size_t i = 0; i < count; i++) {
        names[i] = verbs[i].name;
        if (strcmp(word, names[i]) != 0)
            continue;
        if (words >= verbs[i].min && (verbs[i].max < 0 || words <= verbs[i].max))
            return &verbs[i];
        later_fail(err, LATER_E_USAGE, words < verbs[i].min ? "%s needs %s" : "%s takes only %s",
                   word, verbs[i].needs);
        return NULL;
    }
    later_fail(err, LATER_E_USAGE, "no verb %.40s%s", word,
               args_meant(meant, args_nearest(word, names, count), ""));
    return NULL;
}

struct where_given cli_given(const struct cli *cli)
{
    return (struct where_given){ .redis = args_text(&cli->args, "redis"),
                                 .prefix = args_text(&cli->args, "prefix"),
                                 .config = args_text(&cli->args, "config"),
                                 .daemon_config = args_text(&cli->args, "daemon-config") };
}

struct later_client *cli_client(struct cli *cli, struct later_error *err)
{
    struct where_given given = cli_given(cli);
    struct where *where = &cli->where;

    if (cli->client)
        return cli->client;
    if (where_find(where, &given, err) < 0)
        return NULL;
    cli->client = later_client_open_with(
        &(struct later_client_options){ .url = where->url,
                                        .password_file = text_known(where->password_file),
                                        .prefix = where->prefix,
                                        .timeout = PATIENCE,
                                        .patience = FIRST_START,
                                        .document_max = where->document_max },
        err);
    return cli->client;
}

int cli_keys(struct cli *cli, const char *queue, struct later_keys *keys, struct later_error *err)
{
    struct later_client *client = cli_client(cli, err);

    return client ? later_call_keys(client, queue, keys, err) : -1;
}

static struct later_reply *cli_call_anew(struct cli *cli, struct later_command *cmd, bool repeat,
                                         struct later_error *err)
{
    struct later_client *client = cli_client(cli, err);

    if (client)
        return later_call(client, cmd, 0, repeat, err);
    later_command_free(cmd);
    return NULL;
}

struct later_reply *cli_call(struct cli *cli, struct later_command *cmd, struct later_error *err)
{
    struct later_reply *reply = cli->ahead ? ahead_take(cli->ahead, cmd) : NULL;

    if (reply) {
        later_command_free(cmd);
        return reply;
    }
    return cli_call_anew(cli, cmd, true, err);
}

struct later_reply *cli_call_once(struct cli *cli, struct later_command *cmd,
                                  struct later_error *err)
{
    return cli_call_anew(cli, cmd, false, err);
}

int cli_drain(struct cli *cli, int ok, struct later_error *err)
{
    if (ok == 0)
        return later_call_drain(cli->client, err);
    if (cli->client)
        later_call_abort(cli->client);
    return -1;
}

/* --- a node of a Cluster --- */

struct node_answer {
    struct later_reply *reply;
    struct later_error *err;
};

static void cli_take_node(void *arg, struct later_answer *answer)
{
    struct node_answer *taken = arg;

    if (later_call_check(answer, taken->err) == 0) {
        taken->reply = answer->reply;
        answer->reply = NULL;
    }
}

size_t cli_nodes(const struct cli *cli)
{
    size_t masters = later_redis_masters(later_call_redis(cli->client));

    return masters ? masters : 1;
}

void cli_node_name(const struct cli *cli, size_t node, char name[CLI_NODE_SIZE])
{
    const struct later_redis *redis = later_call_redis(cli->client);

    if (later_redis_is_cluster(redis))
        later_redis_master(redis, node, name);
    else
        snprintf(name, CLI_NODE_SIZE, "%s",
                 *later_redis_peer(redis) ? later_redis_peer(redis) : cli->where.shown);
}

struct later_reply *cli_call_node(struct cli *cli, size_t node, struct later_command *cmd,
                                  struct later_error *err)
{
    struct later_redis *redis = later_call_redis(cli->client);
    struct node_answer taken = { .err = err };

    if (!later_redis_is_cluster(redis))
        return cli_call(cli, cmd, err);
    if (later_redis_send_to(redis, node, cmd, NODE_TIMEOUT, cli_take_node, &taken) < 0) {
        later_fail(err, LATER_E_REDIS, "a node of the Cluster is away; try again when it is back");
        return NULL;
    }
    later_redis_flush(redis);
    if (later_call_drain(cli->client, err) == 0)
        return taken.reply;
    later_reply_free(taken.reply);
    return NULL;
}

struct later_reply *cli_look(struct cli *cli, struct ahead *ahead, struct later_command *cmd,
                             bool *away, struct later_error *err)
{
    struct later_error why = { 0 };
    struct later_reply *reply;

    if (ahead) {
        ahead_ask(cli->client, ahead, cmd);
        return NULL;
    }
    reply = cli_call(cli, cmd, &why);
    if (!reply && why.code == LATER_E_REDIS) {
        *away = true;
        *err = why;
    }
    return reply;
}

int64_t cli_count(struct later_reply *reply)
{
    int64_t count = later_reply_int(reply);
    bool answered = reply != NULL;

    later_reply_free(reply);
    return !answered ? -1 : count > 0 ? count : 0;
}

int cli_name_queue(struct cli *cli, const char *queue, struct later_error *err)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_queues(key, later_call_prefix(cli->client));
    later_command_say(&cmd, "SADD %s %s", key, queue);
    return cli_count(cli_call(cli, &cmd, err)) < 0 ? -1 : 0;
}

int cli_clock(struct cli *cli, double *now, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_inspect_time(&cmd);
    reply = cli_call(cli, &cmd, err);
    *now = later_inspect_timed(reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

int cli_ping(struct cli *cli, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;

    later_command_say(&cmd, "PING");
    reply = cli_call(cli, &cmd, err);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

const char *cli_queue(const struct cli *cli)
{
    const char *queue = args_text(&cli->args, "queue");

    return queue ? queue : "default";
}

int cli_check_name(const char *name, struct later_error *err)
{
    if (later_key_name_valid(name))
        return 0;
    return later_fail(err, LATER_E_USAGE,
                      "%.40s: a name is 1 to 200 printable ASCII characters without space and "
                      "braces",
                      name);
}

int cli_state(const char *name, const enum later_key *sets, size_t count, enum later_key *set,
              struct later_error *err)
{
    char all[80] = "";

    for (size_t i = 0; i < count; i++) {
        *set = sets[i];
        if (strcmp(later_key_name(*set), name) == 0)
            return 0;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "",
                 later_key_name(*set));
    }
    return later_fail(err, LATER_E_USAGE, "--state: %.40s is not one of %s", name, all);
}

int cli_duration(const struct cli *cli, const char *option, double *seconds,
                 struct later_error *err)
{
    const char *word = args_text(&cli->args, option);
    char what[40];

    snprintf(what, sizeof what, "--%s", option);
    return word ? later_duration(word, what, seconds, err) : 0;
}

int cli_positive_duration(const struct cli *cli, const char *option, double *seconds,
                          struct later_error *err)
{
    if (cli_duration(cli, option, seconds, err) < 0)
        return -1;
    if (args_text(&cli->args, option) && *seconds <= 0)
        return later_fail(err, LATER_E_USAGE, "--%s: must be above 0", option);
    return 0;
}

int cli_number(const struct cli *cli, const char *option, int64_t min, int64_t max, int64_t *number,
               struct later_error *err)
{
    const char *word = args_text(&cli->args, option);
    char what[40];

    snprintf(what, sizeof what, "--%s", option);
    return word ? text_number(word, what, min, max, number, err) : 0;
}

void cli_say(const struct cli *cli, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        return;
    later_make_printable(text); /* the text may contain foreign words: ids, types, Redis's errors */
    fflush(stdout);             /* keeps the order of output if both streams go to one place */
    fprintf(stderr, "later %s: %s\n", cli->command->name, text);
    free(text);
}

void cli_table(const struct cli *cli, struct table *table, const char *const *headings)
{
    table_begin(table, cli->out_terminal, cli->coloured, headings);
}

void cli_instead(const struct cli *cli, struct table *table, const char *text)
{
    table->instead = cli->json ? NULL : text;
}

void cli_print_count(const struct cli *cli, struct table *table, const char *queue,
                     const char *name, const char *word, uint64_t count)
{
    struct jsonl json;

    if (cli->json) {
        jsonl_begin(&json, stdout);
        if (queue)
            jsonl_text(&json, "queue", queue);
        jsonl_int(&json, name, (int64_t)count);
        jsonl_end(&json);
    } else if (table && args_flag(&cli->args, "all-queues")) {
        table_text(table, PLAIN, queue);
        table_number(table, PLAIN, count);
    } else if (word && cli->out_terminal) {
        printf("%" PRIu64 " %s\n", count, word);
    } else {
        printf("%" PRIu64 "\n", count);
    }
}

int cli_ask(const struct cli *cli, const char *what)
{
    char answer[16] = "";

    if (args_flag(&cli->args, "yes"))
        return LATER_OK;
    if (!cli->in_terminal || !cli->err_terminal) {
        cli_say(cli, "%s? There is no terminal to ask on: add --yes", what);
        return LATER_E_USAGE;
    }
    fprintf(stderr, "%s? [y/N] ", what);
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
        return LATER_OK;
    cli_say(cli, "nothing was done");
    return LATER_E_LATER;
}
