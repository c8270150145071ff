/*
 * ask.c: redis-cli for tests. It takes a quarter of redis-cli's time to start, and the tests start
 * it some ten thousand times:
 *
 *     ask [-s SOCKET | -p PORT] [-c] [--raw] COMMAND ARGUMENT...
 *     ask [-s SOCKET | -p PORT] [-c] [--raw] --eval FILE KEY... , ARGUMENT...
 *
 * It prints what redis-cli prints into a file. In all other cases this program becomes redis-cli:
 * other options, no command (then they are on standard input), commands that mean more to
 * redis-cli, and a server that does not answer.
 */
#include <hiredis/hiredis.h>

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct ask {
    const char *socket, *script;
    int port;
    bool cluster;
    char **words; /* the command, up to NULL */
    int count;
};

static bool is_among(const char *word, const char *const *words)
{
    while (*words && strcasecmp(word, *words) != 0)
        words++;
    return *words;
}

/* Commands that mean more to redis-cli. */
static const char *const special[] = { "auth",    "debug",    "hello",      "help",
                                       "latency", "memory",   "monitor",    "psubscribe",
                                       "select",  "shutdown", "ssubscribe", "subscribe",
                                       NULL };

/* Those whose reply is a text: redis-cli adds no end of line. */
static bool has_text(const struct ask *ask)
{
    static const char *const parts[] = { "info", "list", "nodes", NULL };
    const char *command = ask->words[0];

    if (strcasecmp(command, "client") == 0 || strcasecmp(command, "cluster") == 0)
        return ask->count > 1 && is_among(ask->words[1], parts);
    return strcasecmp(command, "info") == 0;
}

/* Returns whether all of it is known here. */
static bool read_options(struct ask *ask, char **argv)
{
    char **word = argv + 1;

    for (; *word && **word == '-'; word++) {
        if (strcmp(*word, "-c") == 0)
            ask->cluster = true;
        else if (strcmp(*word, "-s") == 0 && word[1])
            ask->socket = *++word;
        else if (strcmp(*word, "-p") == 0 && word[1])
            ask->port = atoi(*++word);
        else if (strcmp(*word, "--eval") == 0 && word[1])
            ask->script = *++word;
        else if (strcmp(*word, "--raw") != 0)
            return false;
    }
    ask->words = word;
    while (ask->words[ask->count])
        ask->count++;
    return ask->script || (*word && !is_among(*word, special));
}

static char *read_script(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t size = 0;
    char *text = NULL;

    if (!file)
        err(1, "%s", path);
    if (getdelim(&text, &size, '\0', file) < 0)
        errx(1, "%s: empty", path);
    fclose(file);
    return text;
}

/* Makes EVAL of the words behind --eval FILE: the comma ends the keys. */
static void make_eval(struct ask *ask)
{
    char **words = calloc((size_t)ask->count + 4, sizeof *words);
    int keys = 0, count = 3;

    if (!words)
        err(1, "calloc");
    while (keys < ask->count && strcmp(ask->words[keys], ",") != 0)
        keys++;
    words[0] = strdup("EVAL");
    words[1] = read_script(ask->script);
    if (asprintf(&words[2], "%d", keys) < 0)
        err(1, "asprintf");
    for (int i = 0; i < ask->count; i++) {
        if (i != keys)
            words[count++] = ask->words[i];
    }
    ask->words = words;
    ask->count = count;
}

/* NULL if the server cannot be reached. */
static redisContext *reach(const struct ask *ask)
{
    redisContext *redis =
        ask->socket ? redisConnectUnix(ask->socket) : redisConnect("127.0.0.1", ask->port);

    return redis && redis->err == 0 ? redis : NULL;
}

/* Returns NULL if the server cannot be reached, or goes away. asking: the slot is on its way there.
 */
static redisReply *call(const struct ask *ask, bool asking)
{
    redisContext *redis = reach(ask);

    if (!redis)
        return NULL;
    if (asking)
        freeReplyObject(redisCommand(redis, "ASKING"));
    return redisCommandArgv(redis, ask->count, (const char **)ask->words, NULL);
}

/* Follows "MOVED SLOT HOST:PORT" and "ASK SLOT HOST:PORT", like redis-cli -c. */
static redisReply *answer(struct ask *ask)
{
    redisReply *reply = call(ask, false);

    while (reply && ask->cluster && reply->type == REDIS_REPLY_ERROR) {
        bool asking = strncmp(reply->str, "ASK ", 4) == 0;

        if (!asking && strncmp(reply->str, "MOVED ", 6) != 0)
            break;
        ask->port = atoi(strrchr(reply->str, ':') + 1);
        freeReplyObject(reply);
        reply = call(ask, asking);
    }
    return reply;
}

/* The elements of an array are lines, at any depth; nil is an empty one. */
static void print(const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        printf("%lld", reply->integer);
        break;
    case REDIS_REPLY_ARRAY:
        for (size_t i = 0; i < reply->elements; i++) {
            if (i > 0)
                putchar('\n');
            print(reply->element[i]);
        }
        break;
    case REDIS_REPLY_NIL:
        break;
    default:
        fwrite(reply->str, 1, reply->len, stdout);
        if (reply->type == REDIS_REPLY_ERROR)
            putchar('\n');
    }
}

static _Noreturn void become_redis_cli(char **argv)
{
    execvp("redis-cli", argv);
    err(127, "redis-cli");
}

int main(int argc, char **argv)
{
    struct ask ask = { .port = 6379 };
    redisReply *reply;

    (void)argc;
    if (!read_options(&ask, argv) || isatty(STDOUT_FILENO) || getenv("REDISCLI_AUTH"))
        become_redis_cli(argv);
    if (ask.script)
        make_eval(&ask);
    reply = answer(&ask);
    if (!reply)
        become_redis_cli(argv);
    print(reply);
    if (!has_text(&ask))
        putchar('\n');
    return fflush(stdout) == 0 ? 0 : 1;
}
