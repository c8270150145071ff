/* route.c: finds the `later` command that answers a request. */
#include "tasks/route.h"

#include "output/jsonl.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command: literal words, and ?name for a parameter of the request. What is in brackets is left
 * out if its parameter is missing, and with a * behind the name it is there for each value; `later`
 * says how many there may be. A value comes after = or after --, so that it can never become an
 * option. */
struct route {
    const char *path;
    const char *command;
    bool post, stream, admin; /* admin: only they may */
    const char *raw;
    double patience, first;
};

#define QUICK 5.0
#define LONG  900.0

/* The conditions of choose.h. */
#define CONDITIONS                                                                                 \
    "[--state=?state] [--type=?glob*] [--older=?older] [--newer=?newer] [--error=?error] "         \
    "[--kind=?kind*] [--host=?host] [--attempts=?attempts] [--priority=?ranks] [--where=?where*] " \
    "[--text=?text] [--not=?not*]"

/* Those of an action on all that match, its bounds, and whether it asks before it acts. */
#define MANY "[--ask=?ask] [--number=?most] [--rate=?rate] " CONDITIONS

/* What may be set when a job is pushed. */
/* clang-format off */
#define JOB \
    /* @options form,at: "[--{dashed}=?{name}] " \ */ \
    "[--priority=?priority] " \
    "[--in=?in] " \
    "[--at=?at] " \
    "[--max-attempts=?max_attempts] " \
    "[--retry-for=?retry_for] " \
    "[--timeout=?timeout] " \
    "[--backoff=?backoff] " \
    "[--expires-at=?expires_at] " \
    "[--expires-in=?expires_in] " \
    "[--result=?result] " \
    "[--lock=?lock] " \
    "[--group=?group] " \
    "[--trace=?trace] " \
    "[--description=?description] " \
    "[--on-dead=?on_dead] " \
    "[--on-done=?on_done] " \
    /* @end */ \
    "-- ?type ?payload"
/* clang-format on */

static const struct route routes[] = {
    /* Its first line comes once Redis has answered. Prometheus waits no longer than ten seconds. */
    { "/metrics", "metrics", .raw = "text/plain; version=0.0.4; charset=utf-8", .patience = 15,
      .first = 1.5 },
    { ROUTE_OPENMETRICS, "metrics --openmetrics",
      .raw = "application/openmetrics-text; version=1.0.0; charset=utf-8", .patience = 15,
      .first = 1.5 },
    { "/api/1/queues", "size --json", .patience = QUICK },
    { "/api/1/hosts", "status --json", .patience = QUICK },
    { "/api/1/server", "status --json --server", .patience = QUICK },
    { "/api/1/server-keys", "status --json --server --keys", .patience = QUICK },
    { "/api/1/locks", "lock --json", .patience = QUICK },
    { "/api/1/numbers", "set --json", .patience = QUICK },
    { "/api/1/numbers-set",
      "set --json --max=?max [--per=?per] [--for=?for] [--by=?who] -- ?what ?need", .post = true,
      .admin = true, .patience = QUICK },
    { "/api/1/numbers-unset", "unset --json -- ?what ?need", .post = true, .admin = true,
      .patience = QUICK },
    { "/api/1/queue", "size --json -- ?queue", .patience = QUICK },
    { "/api/1/jobs", "peek --json [--state=?state] [--number=?number] [--offset=?offset] -- ?queue",
      .patience = QUICK },
    { "/api/1/job", "show --json [--queue=?queue] -- ?id", .patience = QUICK },
    { "/api/1/kick", "kick --json --queue=?queue -- ?id", .post = true, .patience = QUICK },
    { "/api/1/kick-all", "kick --json --yes --queue=?queue --state=?state", .post = true,
      .patience = LONG },
    { "/api/1/cancel", "cancel --json --queue=?queue -- ?id", .post = true, .patience = QUICK },
    { "/api/1/cancel-all", "cancel --json --yes --queue=?queue --state=?state", .post = true,
      .admin = true, .patience = LONG },
    { "/api/1/pause", "pause --json [--for=?for] -- ?queue", .post = true, .patience = QUICK },
    { "/api/1/resume", "resume --json -- ?queue", .post = true, .patience = QUICK },
    { "/api/1/type-pause", "pause --json --type=?glob [--for=?for] [--reason=?reason] -- ?queue",
      .post = true, .patience = QUICK },
    { "/api/1/type-resume", "resume --json --type=?glob -- ?queue", .post = true,
      .patience = QUICK },
    { "/api/1/host-pause", "pause --json [--for=?for] --host=?host", .post = true,
      .patience = QUICK },
    { "/api/1/host-resume", "resume --json --host=?host", .post = true, .patience = QUICK },
    { "/api/1/push", "push --json --queue=?queue [--id=?id] " JOB, .post = true, .admin = true,
      .patience = QUICK },
    { "/api/1/replace", "push --json --replace --queue=?queue --id=?id " JOB, .post = true,
      .admin = true, .patience = QUICK },
    { "/api/1/history",
      "history --json [--since=?since] [--by=?by] [--type=?type] [--number=?most] -- [?queue]",
      .patience = QUICK },
    { "/api/1/marks", "history --json --marks [--since=?since] -- [?queue]", .patience = QUICK },
    { "/api/1/types",
      "history --json [--since=?since] [--until=?until] [--type=?type] [--number=?most] -- "
      "[?queue]",
      .patience = QUICK },
    { "/api/1/cron", "cron --json", .patience = QUICK },
    { "/api/1/cron-run", "cron --json --queue=?queue -- run ?name", .post = true, .admin = true,
      .patience = QUICK },
    { "/api/1/cron-pause", "cron --json --queue=?queue -- pause ?name", .post = true, .admin = true,
      .patience = QUICK },
    { "/api/1/cron-resume", "cron --json --queue=?queue -- resume ?name", .post = true,
      .admin = true, .patience = QUICK },
    { "/api/1/cron-delete", "cron --json --queue=?queue -- delete ?name", .post = true,
      .admin = true, .patience = QUICK },
    { "/api/1/cron-set",
      "cron --json --queue=?queue [--zone=?zone] -- set ?name ?expression [?type] [?payload]",
      .post = true, .admin = true, .patience = QUICK },
    { "/api/1/flows", "flow --json [--queue=?queue]", .patience = QUICK },
    { "/api/1/flow", "flow --json [--queue=?queue] -- show ?flow", .patience = QUICK },
    { "/api/1/flow-kick", "flow --json --queue=?queue -- kick ?flow", .post = true,
      .patience = LONG },
    { "/api/1/flow-cancel", "flow --json --queue=?queue -- cancel ?flow", .post = true,
      .patience = LONG },
    { "/api/1/search",
      "search --json --progress --all-queues [--number=?limit] [--after=?after] " CONDITIONS,
      .stream = true, .patience = LONG },
    { "/api/1/search-queue",
      "search --json --progress --queue=?queue [--number=?limit] [--after=?after] " CONDITIONS,
      .stream = true, .patience = LONG },
    { "/api/1/count", "search --count --json --progress --all-queues [--by=?facets] " CONDITIONS,
      .stream = true, .patience = LONG },
    { "/api/1/count-queue",
      "search --count --json --progress --queue=?queue [--by=?facets] " CONDITIONS, .stream = true,
      .patience = LONG },
    { "/api/1/searches", "search --saved --json", .patience = QUICK },
    { "/api/1/search-save",
      "search --json --save=?search [--queue=?queue] [--number=?limit] "
      "[--columns=?columns] " CONDITIONS,
      .post = true, .patience = QUICK },
    { "/api/1/search-unsave", "search --json --unsave=?search", .post = true, .patience = QUICK },
    { "/api/1/export", "export --all-queues " CONDITIONS, .stream = true,
      .raw = "application/x-ndjson", .patience = LONG },
    { "/api/1/export-queue", "export --queue=?queue " CONDITIONS, .stream = true,
      .raw = "application/x-ndjson", .patience = LONG },
    { "/api/1/kick-matching", "kick --json --progress --yes --all-queues " MANY, .post = true,
      .stream = true, .patience = LONG },
    { "/api/1/kick-queue-matching", "kick --json --progress --yes --queue=?queue " MANY,
      .post = true, .stream = true, .patience = LONG },
    { "/api/1/cancel-matching", "cancel --json --progress --yes --all-queues " MANY, .post = true,
      .stream = true, .patience = LONG },
    { "/api/1/cancel-queue-matching", "cancel --json --progress --yes --queue=?queue " MANY,
      .post = true, .stream = true, .patience = LONG },
    { "/api/1/bury-matching", "bury --json --progress --yes --all-queues " MANY, .post = true,
      .stream = true, .patience = LONG },
    { "/api/1/bury-queue-matching", "bury --json --progress --yes --queue=?queue " MANY,
      .post = true, .stream = true, .patience = LONG },
};

/* --- the form of values --- */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

#define VISIBLE LETTERS DIGITS "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

static bool is_known_state(const char *value)
{
    static const char *const states[] = {
        "ready", "delayed", "reserved", "dead", "waiting", "done"
    };

    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (strcmp(value, states[i]) == 0)
            return true;
    }
    return false;
}

/* Pages are bounded, since a thousand jobs may be a thousand MiB. */
static bool is_bounded(const char *value)
{
    return strtol(value, NULL, 10) >= 1 && strtol(value, NULL, 10) <= 200;
}

static bool is_signed(const char *value)
{
    size_t digits = strspn(value + (*value == '-'), DIGITS);

    return digits >= 1 && digits <= 9 && !value[digits + (*value == '-')];
}

static bool route_is_line(const char *value)
{
    for (; *value; value++) {
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return false;
    }
    return true;
}

static bool is_line_word(const char *value)
{
    return strcmp(value, "line") == 0;
}

/* `later push` would read standard input for "-". */
static bool is_no_dash(const char *value)
{
    return strcmp(value, "-") != 0;
}

/* What a value is made of, at least one and at most so many bytes. `later` checks its meaning. */
struct shape {
    const char *made_of; /* NULL: of anything */
    size_t most;
    bool (*also)(const char *value); /* what else it must be; NULL: nothing */
};

static const struct shape is_queue = { LETTERS DIGITS "_.-/", 70, NULL };
static const struct shape is_state = { LETTERS, 16, is_known_state };
static const struct shape is_number = { DIGITS, 9, NULL };
static const struct shape is_page = { DIGITS, 9, is_bounded };
static const struct shape is_integer = { DIGITS "-", 10, is_signed };
static const struct shape is_id = { VISIBLE, 200, NULL };
static const struct shape is_spot = { VISIBLE, 600, NULL }; /* where a search goes on */
static const struct shape route_is_type = { LETTERS DIGITS "_.:-", 128, NULL };
static const struct shape route_is_hook = { LETTERS DIGITS "_.:-@", 193, NULL };
static const struct shape is_zone = { LETTERS DIGITS "_-+/", 64, NULL };
static const struct shape is_duration = { DIGITS ".smhd", 16, NULL };
static const struct shape is_text = { NULL, 256, route_is_line };
static const struct shape is_glob = { LETTERS DIGITS "_.:-*?", 128, NULL };
static const struct shape is_comparison = { DIGITS "-<>=", 12, NULL };
static const struct shape is_kind = { LETTERS, 16, NULL };
static const struct shape is_settable = { LETTERS "_", 16, NULL };
static const struct shape is_ask = { LETTERS, 4, is_line_word };
static const struct shape is_payload = { NULL, SIZE_MAX, is_no_dash };

static bool has_shape(const char *value, const struct shape *shape)
{
    size_t len = strlen(value);

    return len >= 1 && len <= shape->most &&
           (!shape->made_of || strspn(value, shape->made_of) == len) &&
           (!shape->also || shape->also(value));
}

static const struct form {
    const char *name;
    const struct shape *shape;
    const char *why;
} forms[] = {
    { "queue", &is_queue, "queue: the name of a queue" },
    { "flow", &is_queue, "flow: the name of a flow" },
    { "host", &is_queue, "host: the name of a host, as laterd tells it" },
    { "state", &is_state, "state: ready, delayed, reserved, dead, waiting or done" },
    { "number", &is_page, "number: 1 to 200" },
    { "offset", &is_number, "offset: a whole number" },
    { "id", &is_id, "id: 1 to 200 printable characters without a space" },
    { "type", &route_is_type, "type: the name of a type" },
    { "limit", &is_page, "limit: 1 to 200" },
    { "glob", &is_glob, "glob: a type, with * and ?" },
    { "older", &is_duration, "older: a duration like 90, 5m, 2h" },
    { "newer", &is_duration, "newer: a duration like 90, 5m, 2h" },
    { "error", &is_text, "error: a regular expression of at most 256 bytes" },
    { "kind", &is_kind, "kind: of error, such as timeout or crash" },
    { "attempts", &is_comparison, "attempts: a number, or one after > >= < <=" },
    { "ranks", &is_comparison, "priority: a whole number, or one after > >= < <=" },
    { "where", &is_text, "where: PATH=VALUE" },
    { "text", &is_text, "text: at most 256 bytes" },
    { "not", &is_text, "not: NAME:VALUE" },
    { "facets", &is_text, "facets: names with commas between, such as type,payload.tenant" },
    { "search", &is_text, "search: the name of a saved search" },
    { "columns", &is_text, "columns: names with commas between, such as id,payload.tenant" },
    { "after", &is_spot, "after: the `next` of a search" },
    { "ask", &is_ask, "ask: line" },
    { "most", &is_number, "most: a whole number" },
    { "rate", &is_number, "rate: a whole number" },
    { "since", &is_duration, "since: a duration like 90, 5m, 2h" },
    { "until", &is_duration, "until: a duration like 90, 5m, 2h" },
    { "by", &is_kind, "by: minute, ten or hour" },
    { "name", &route_is_type, "name: that of a schedule" },
    { "expression", &is_text, "expression: such as 0 3 * * mon-fri, or @every 90s" },
    { "zone", &is_zone, "zone: such as Europe/Berlin" },
    { "for", &is_duration, "for: a duration like 90, 5m, 2h" },
    { "what", &is_settable, "what: limit or max_running" },
    { "need", &is_id, "need: 1 to 200 printable characters without a space" },
    { "max", &is_number, "max: a whole number" },
    { "per", &is_duration, "per: a duration like 90, 5m, 2h" },
    { "who", &is_text, "who: at most 256 bytes" },
    { "reason", &is_text, "reason: one line of at most 200 bytes" },
    /* clang-format off */
    /* @options form,at: { "{name}", &{accepts}, "{name}: {must}" }, */
    { "priority", &is_integer, "priority: a whole number" },
    { "in", &is_duration, "in: a duration like 90, 5m, 2h" },
    { "at", &is_text, "at: a time" },
    { "max_attempts", &is_number, "max_attempts: a whole number" },
    { "retry_for", &is_duration, "retry_for: a duration like 90, 5m, 2h" },
    { "timeout", &is_duration, "timeout: a duration like 90, 5m, 2h" },
    { "backoff", &is_text, "backoff: 5, or 1,10,5m, or JSON" },
    { "expires_at", &is_text, "expires_at: a time" },
    { "expires_in", &is_duration, "expires_in: a duration like 90, 5m, 2h" },
    { "result", &is_duration, "result: a duration like 90, 5m, 2h" },
    { "lock", &is_id, "lock: 1 to 200 printable characters without a space" },
    { "group", &is_id, "group: 1 to 64 printable characters without a space" },
    { "trace", &is_text, "trace: at most 256 bytes" },
    { "description", &is_text, "description: at most 200 bytes" },
    { "on_dead", &route_is_hook, "on_dead: a type, or TYPE@QUEUE" },
    { "on_done", &route_is_hook, "on_done: a type, or TYPE@QUEUE" },
    /* @end */
    /* clang-format on */
    { "payload", &is_payload, "payload: JSON" },
};

static const struct form *form_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strncmp(forms[i].name, name, len) == 0 && forms[i].name[len] == '\0')
            return &forms[i];
    }
    return NULL;
}

/* --- from the table to a command line --- */

static int route_add(struct order *order, const char *word)
{
    if (!word || order->count == ORDER_WORDS)
        return -1;
    order->words[order->count++] = word;
    order->words[order->count] = NULL;
    return 0;
}

/* Copies bytes into the order's own room. NULL if that is full. */
static char *route_keep(struct order *order, const char *bytes, size_t len, const char *more)
{
    size_t all = len + strlen(more) + 1;
    char *copy = order->room + order->used;

    if (all > sizeof order->room - order->used)
        return NULL;
    memcpy(copy, bytes, len);
    strcpy(copy + len, more);
    order->used += all;
    return copy;
}

/* Adds what stands before a value (`before` bytes), and the value. Returns as add_word(). */
static int route_add_value(struct order *order, const struct form *form, const char *word,
                           size_t before, const char *value, const char **why)
{
    *why = form->why;
    if (!value || !has_shape(value, form->shape))
        return 400;
    *why = "the command is too long";
    if (before == 0) /* it may be long, so it is not copied */
        return route_add(order, value) < 0 ? 400 : 0;
    return route_add(order, route_keep(order, word, before, value)) < 0 ? 400 : 0;
}

/* Adds one word of the table, `len` long. Returns 0, or a status with *why. */
static int add_word(struct order *order, const char *word, size_t len, const struct params *params,
                    const char **why)
{
    bool bracket = word[0] == '[', each;
    const char *from = word + bracket, *mark, *value;
    const struct form *form;
    size_t before;
    int status = 0;

    len -= bracket ? 2 : 0;
    *why = "the command is too long";
    mark = memchr(from, '?', len);
    if (!mark)
        return route_add(order, route_keep(order, from, len, "")) < 0 ? 400 : 0;
    before = (size_t)(mark - from);
    each = from[len - 1] == '*';
    form = form_of(mark + 1, len - before - 1 - each);
    *why = "no such parameter";
    if (!form)
        return 400;
    value = params_get(params, form->name);
    if (!value && bracket)
        return 0;
    status = route_add_value(order, form, from, before, value, why);
    for (size_t n = 1; each && status == 0 && (value = params_nth(params, form->name, n)); n++)
        status = route_add_value(order, form, from, before, value, why);
    return status;
}

static const struct route *route_find(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, path) == 0)
            return &routes[i];
    }
    return NULL;
}

enum role route_needs(const char *path)
{
    const struct route *route = route_find(path);

    return route && route->admin ? ROLE_ADMIN : ROLE_OPERATOR;
}

int route_order(struct order *order, const char *path, bool post, const struct params *params,
                const char **why)
{
    const struct route *route = route_find(path);
    int status = 0;

    *why = "there is nothing here";
    if (!route)
        return 404;
    *why = route->post ? "this changes something: use POST" : "this only looks: use GET";
    if (route->post != post)
        return 405;
    order->count = order->used = 0;
    order->name = strrchr(route->path, '/') + 1;
    order->act = route->post;
    order->stream = route->stream;
    order->raw = route->raw;
    order->patience = route->patience;
    order->first = route->first;
    for (const char *word = route->command; *word && status == 0;) {
        size_t len = strcspn(word, " ");

        status = add_word(order, word, len, params, why);
        word += len;
        word += strspn(word, " ");
    }
    return status;
}

/* --- for people --- */

static bool route_is_plain(const char *word)
{
    return *word && strspn(word, LETTERS DIGITS "_.:/=@%+,-") == strlen(word);
}

static void put_quoted(FILE *out, const char *word)
{
    putc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    }
    putc('\'', out);
}

/* Leaves out what only programs need, and -- unless a word begins with a dash. */
static bool is_left_out(const struct order *order, size_t i)
{
    const char *word = order->words[i];

    if (strcmp(word, "--") == 0)
        return i + 1 == order->count || order->words[i + 1][0] != '-';
    return strcmp(word, "--json") == 0 || strcmp(word, "--yes") == 0 ||
           strcmp(word, "--progress") == 0 || strncmp(word, "--ask=", 6) == 0;
}

char *route_spell(const struct order *order)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    fputs("later", out);
    for (size_t i = 0; i < order->count; i++) {
        if (is_left_out(order, i))
            continue;
        putc(' ', out);
        if (route_is_plain(order->words[i]))
            fputs(order->words[i], out);
        else
            put_quoted(out, order->words[i]);
    }
    return jsonl_written(out, &text);
}
