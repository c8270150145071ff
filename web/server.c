/* server.c: leads a request to a page, a stream or a command. */
#include "server.h"

#include "tasks/acts.h"
#include "http/answer.h"
#include "base/printable.h"
#include "live/live.h"
#include "log.h"
#include "notify/notifier.h"
#include "output/jsonl.h"
#include "http/peer.h"
#include "live/poller.h"
#include "tasks/tasks.h"
#include "live/troubles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    const struct server_options *options;
    struct http *http;
    struct acts *acts; /* what was done here */
    struct tasks *tasks;
    struct poller *poller;
    struct live *live;
    struct notifier *notifier; /* NULL: nobody is told of troubles */
};

/* A request and its sender. */
struct visit {
    struct server *server;
    struct evhttp_request *request;
    const char *path;
    const struct asset *asset; /* NULL = it does not ask for a page */
    bool post;
    enum role role;
    char who[ACT_WHO];
};

/* What the sender does not see. NULL: it sees everything. */
static const struct mask *server_mask(const struct visit *visit)
{
    const struct mask *mask = &visit->server->options->mask;

    return visit->role <= ROLE_READER && mask->count > 0 ? mask : NULL;
}

/* --- answers without a command --- */

/* Sends what the pages must know before they offer anything. */
static void answer_me(const struct visit *visit)
{
    const struct guard *guard = &visit->server->options->guard;
    struct answer answer;

    if (answer_begin(&answer))
        jsonl_add(&answer.json, "version:%s who:%s role:%s read_only:%c masked:%c", VERSION,
                  visit->who, role_names[visit->role], guard->read_only,
                  server_mask(visit) != NULL);
    answer_end(&answer, visit->server->http, visit->request, 200);
}

/* Sends the whole state to those who have not had it. */
static void server_greet(struct server *server)
{
    size_t len;
    char *text = poller_text(server->poller, &len);

    if (text)
        live_greet(server->live, text, len);
    free(text);
}

/* Commands have the values that somebody looked for, which readers may not see. */
static void answer_tasks(const struct visit *visit)
{
    struct server *server = visit->server;
    char *text = NULL;
    size_t len;
    FILE *out;

    if (visit->role < ROLE_OPERATOR) {
        answer_error(server->http, visit->request, 403, "what was done is not shown to readers");
        return;
    }
    out = open_memstream(&text, &len);
    if (out) {
        fputs("{\"tasks\":", out);
        acts_write(server->acts, out);
        putc('}', out);
    }
    if (out && fclose(out) == 0)
        answer_json(server->http, visit->request, 200, text, len);
    else
        answer_error(server->http, visit->request, 500, "no memory");
}

/* turn: what is done to the task; it returns -1 if there is none. */
static void answer_task(const struct visit *visit,
                        int (*turn)(const struct tasks *tasks, unsigned long number))
{
    struct server *server = visit->server;
    struct params params;
    const char *body, *number;
    size_t len;
    int found;

    body = http_body(visit->request, &len);
    number = params_body(&params, body, len) == 0 ? params_get(&params, "task") : NULL;
    found = number ? turn(server->tasks, strtoul(number, NULL, 10)) : -1;
    params_free(&params);
    if (found == 0)
        answer_nothing(server->http, visit->request);
    else
        answer_error(server->http, visit->request, 404, "it has ended");
}

static void answer_stop(const struct visit *visit)
{
    answer_task(visit, tasks_stop);
}

static void answer_go_on(const struct visit *visit)
{
    answer_task(visit, tasks_go_on);
}

/* Numbers from when somebody looked last would be old, so its reader waits for the next ones. */
static void answer_state(const struct visit *visit, enum live_kind kind)
{
    struct server *server = visit->server;

    poller_look(server->poller);
    if (live_add(server->live, visit->request, kind) < 0)
        answer_error(server->http, visit->request, 503, "too many pages are open: close some");
    else if (poller_is_fresh(server->poller))
        server_greet(server);
}

static void answer_overview(const struct visit *visit)
{
    answer_state(visit, LIVE_STATE);
}

static void answer_live(const struct visit *visit)
{
    answer_state(visit, LIVE_STREAM);
}

static void server_tell_troubles(struct server *server)
{
    size_t len;
    char *text = poller_troubles(server->poller, &len);

    if (text)
        live_answer(server->live, text, len);
    free(text);
}

/* For a page in the background, which looks seldom. */
static void answer_troubles(const struct visit *visit)
{
    struct server *server = visit->server;

    if (live_add(server->live, visit->request, LIVE_TROUBLES) < 0)
        answer_error(server->http, visit->request, 503, "too many pages are open: close some");
    else if (poller_look_troubles(server->poller, TROUBLES_LATER))
        server_tell_troubles(server);
}

/* Do these names of what jobs are counted by, with commas between, lead into documents? */
static bool counts_inside(const struct mask *mask, const char *names)
{
    static const char *const outside[] = { "state", "queue", "kind", "host", "type", "group" };
    size_t count = sizeof outside / sizeof *outside, len, i;

    for (; names && *names; names += len + (names[len] == ',')) {
        len = strcspn(names, ",");
        i = 0;
        while (i < count && (strlen(outside[i]) != len || strncmp(outside[i], names, len) != 0))
            i++;
        if (i == count || mask_has(mask, outside[i]))
            return true;
    }
    return false;
}

/* Who can search for a value learns it, one character after the other; who counts by it, at once.
 */
static bool asks_for_masked(const struct visit *visit, const struct params *params)
{
    static const char *const inside[] = { "where", "text" };
    const struct mask *mask = server_mask(visit);
    const char *value;
    bool asks = false;

    for (size_t i = 0; mask && i < sizeof inside / sizeof *inside; i++)
        asks = asks || params_get(params, inside[i]);
    for (size_t n = 0; mask && (value = params_nth(params, "not", n)); n++)
        asks = asks || strncmp(value, "where:", 6) == 0 || strncmp(value, "text:", 5) == 0;
    asks = asks || (mask && counts_inside(mask, params_get(params, "facets")));
    return asks || (mask && params_get(params, "error") &&
                    (mask_has(mask, "error") || mask_has(mask, "text")));
}

static void answer_command(const struct visit *visit)
{
    struct server *server = visit->server;
    struct params params;
    const char *body;
    size_t len;
    int ok;

    body = http_body(visit->request, &len);
    ok = visit->post ? params_body(&params, body, len)
                     : params_query(&params, http_query(visit->request));
    if (ok < 0)
        answer_error(server->http, visit->request, 400, "the parameters cannot be read");
    else if (asks_for_masked(visit, &params))
        answer_error(server->http, visit->request, 403,
                     "a reader cannot search for what is in payloads: some of it is masked");
    else
        tasks_take(server->tasks, visit->request, visit->path, visit->post, &params, visit->who,
                   server_mask(visit));
    params_free(&params);
}

static const struct {
    const char *path;
    bool post;
    void (*answer)(const struct visit *visit);
} routes[] = {
    { "/api/1/me", false, answer_me },       { "/api/1/overview", false, answer_overview },
    { "/api/1/live", false, answer_live },   { "/api/1/troubles", false, answer_troubles },
    { "/api/1/go-on", true, answer_go_on },  { "/api/1/stop", true, answer_stop },
    { "/api/1/tasks", false, answer_tasks },
};

/* --- rights --- */

/* Says who has sent it, for the log: as the kernel or the token says, after the name in the proxy's
 * header, if there is one. */
static void server_call_sender(struct visit *visit, const struct peer *peer)
{
    const struct server_options *options = visit->server->options;
    const char *named =
        options->user_header ? http_header(visit->request, options->user_header) : NULL;
    char way[40];

    if (!options->listener->is_unix)
        snprintf(way, sizeof way, "bearer of the %s token", role_names[visit->role]);
    else
        snprintf(way, sizeof way, peer->known ? "user %u" : "somebody", (unsigned)peer->user);
    if (named && *named)
        snprintf(visit->who, sizeof visit->who, "%.80s (%s)", named, way);
    else
        snprintf(visit->who, sizeof visit->who, "%s", way);
    later_make_printable(visit->who);
}

/* Names the sender, and asks the guard. */
static int server_refuses(struct visit *visit, const char **why)
{
    const struct server_options *options = visit->server->options;
    const struct guard *guard = &options->guard;
    struct evhttp_request *request = visit->request;
    struct peer peer = { .role = ROLE_READER };
    struct guard_request shown = { .host = http_header(request, "Host"),
                                   .origin = http_header(request, "Origin"),
                                   .site = http_header(request, "Sec-Fetch-Site"),
                                   .type = http_header(request, "Content-Type"),
                                   .authorization = http_header(request, "Authorization"),
                                   .post = visit->post,
                                   .open = visit->asset != NULL,
                                   .needs = route_needs(visit->path) };

    if (guard->role_header)
        shown.role = http_header(request, guard->role_header);
    if (options->listener->is_unix)
        peer = peer_of(http_socket(request), options->listener->path, options->operators);
    shown.peer = peer.role;
    visit->role = guard_role(guard, &shown);
    server_call_sender(visit, &peer);
    return guard_refuses(guard, &shown, why);
}

static void server_take(void *arg, struct evhttp_request *request)
{
    struct visit visit = { .server = arg,
                           .request = request,
                           .path = http_path(request),
                           .post = http_method(request) == HTTP_POST };
    void (*answer)(const struct visit *visit) = answer_command;
    const char *why;
    int status;

    if (strcmp(visit.path, "/metrics") == 0 && answer_open_metrics(request))
        visit.path = ROUTE_OPENMETRICS;
    visit.asset = visit.post ? NULL : asset_find(visit.path);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, visit.path) == 0 && routes[i].post == visit.post)
            answer = routes[i].answer;
    }
    status = server_refuses(&visit, &why);
    if (status == 401 && http_header(request, "Authorization"))
        log_line(LOG_WARN, "a wrong token was shown");
    if (status != 0)
        answer_error(visit.server->http, request, status, why);
    else if (visit.asset)
        answer_asset(visit.server->http, request, visit.asset);
    else
        answer(&visit);
}

/* --- all of it --- */

/* Those who wait for the state get no older one, if only the troubles are new. */
static void tell_news(void *arg, const char *json, size_t len, bool asked)
{
    struct server *server = arg;

    if (live_send(server->live, json, len) > 0)
        poller_look(server->poller);
    if (asked && live_waits(server->live))
        server_greet(server);
    if (live_waits_for_troubles(server->live) &&
        poller_look_troubles(server->poller, TROUBLES_LATER))
        server_tell_troubles(server);
}

static void tell_done(void *arg, const char *who, const char *command, const char *queue,
                      int status)
{
    struct server *server = arg;

    if (queue)
        poller_hurry(server->poller, queue);
    log_line(LOG_INFO, "%s: %s: status %d", who, command, status);
}

static void look_troubles(void *arg)
{
    struct server *server = arg;

    poller_look_troubles(server->poller, TROUBLES_TOLD);
}

/* Returns 0, or -1 with *err. */
static int server_notify(struct server *server, struct event_base *base, struct later_error *err)
{
    struct serve_answer answer;

    if (!server->options->notify_file)
        return 0;
    server->notifier = notifier_new(base, server->options->notify_file, look_troubles, server, err);
    if (!server->notifier)
        return -1;
    answer = notifier_answer(server->notifier);
    poller_tell_troubles(server->poller, &answer);
    return 0;
}

struct server *server_new(struct event_base *base, const struct server_options *options,
                          struct later_error *err)
{
    struct server *server = calloc(1, sizeof *server);

    if (!server) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    server->options = options;
    server->acts = acts_new(options->tasks_file, err);
    server->http = server->acts ? http_new(base, server_take, server, err) : NULL;
    server->live = server->http ? live_new(server->http) : NULL;
    server->poller =
        server->live ? poller_new(base, &options->program, tell_news, server, err) : NULL;
    server->tasks = server->poller ? tasks_new(base, server->http, &options->program, server->acts,
                                               tell_done, server, err)
                                   : NULL;
    if (server->tasks && server_notify(server, base, err) == 0 &&
        http_serve(server->http, options->listener->fd, err) == 0)
        return server;
    server_free(server);
    return NULL;
}

void server_free(struct server *server)
{
    if (!server)
        return;
    http_free(server->http);
    tasks_free(server->tasks);
    acts_free(server->acts);
    notifier_free(server->notifier);
    poller_free(server->poller);
    live_free(server->live);
    free(server);
}
