/* main.c: later-web: options → socket → server. */
#include "base/standard.h"
#include "http/listener.h"
#include "log.h"
#include "options.h"
#include "http/peer.h"
#include "server.h"
#include "http/token.h"

#include <event2/event.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the `later` to use: in the same folder if installed, in cli/ if only built. */
static int find_later(char path[PATH_MAX], struct later_error *err)
{
    static const char *const names[] = { "later", "../cli/later" };
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[len > 0 ? len : 0] = '\0';
    slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof names / sizeof *names; i++) {
        int room = (int)(slash - self);

        if (snprintf(path, PATH_MAX, "%.*s/%s", room, self, names[i]) < PATH_MAX &&
            access(path, X_OK) == 0)
            return 0;
    }
    return later_fail(err, LATER_E_SYSTEM, "the program later is not beside later-web");
}

#define ARGUMENTS 10

/* Writes …/later serve --redis URL … */
static void arguments(const char *argv[ARGUMENTS], const char *later, const struct options *options)
{
    const struct {
        const char *name, *value;
    } handed_on[] = { { "--config", options->config },
                      { "--redis", options->redis },
                      { "--prefix", options->prefix } };
    size_t count = 0;

    argv[count++] = later;
    argv[count++] = "serve";
    for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++) {
        if (!handed_on[i].value)
            continue;
        argv[count++] = handed_on[i].name;
        argv[count++] = handed_on[i].value;
    }
    argv[count] = NULL;
}

static void main_stop(evutil_socket_t signal_number, short what, void *base)
{
    (void)signal_number;
    (void)what;
    event_base_loopexit(base, NULL);
}

static int main_serve(const struct server_options *options, struct later_error *err)
{
    static const int signals[] = { SIGTERM, SIGINT };
    struct event *events[2] = { NULL };
    struct event_base *base = event_base_new();
    struct server *server = NULL;

    if (base)
        server = server_new(base, options, err);
    else
        later_fail(err, LATER_E_SYSTEM, "no event loop");
    for (size_t i = 0; server && i < 2; i++) {
        events[i] = evsignal_new(base, signals[i], main_stop, base);
        if (events[i])
            event_add(events[i], NULL);
    }
    if (server)
        event_base_dispatch(base);
    for (size_t i = 0; i < 2; i++) {
        if (events[i])
            event_free(events[i]);
    }
    server_free(server);
    if (base)
        event_base_free(base);
    return server ? LATER_OK : (int)err->code;
}

/* Prints the address as a link for a browser. A token from a file is its owner's secret, so it is
 * not printed. */
static void tell_link(const struct listener *listener, const char *made_token)
{
    if (listener->is_unix || listener->inherited)
        log_line(LOG_INFO, "listening on %s", listener->name);
    else if (!made_token)
        log_line(LOG_INFO, "listening on http://%s/", listener->name);
    else
        log_line(LOG_INFO, "listening: http://%s/#token=%s", listener->name, made_token);
}

/* Over TCP each role has a token, if there is a file with it; that of admins is made otherwise. */
static int main_tokens(struct guard *guard, char tokens[ROLES][TOKEN_MAX + 1],
                       const struct options *options, struct later_error *err)
{
    for (enum role role = ROLE_READER; role < ROLES; role++) {
        const char *file = options->token_files[role];

        if (role < ROLE_ADMIN && !file)
            continue;
        if (token_get(tokens[role], file, err) < 0)
            return -1;
        guard->tokens[role] = tokens[role];
    }
    return 0;
}

/* Returns 0, or -1 with *err. */
static int main_group(gid_t *found, const char *name, struct later_error *err)
{
    const struct group *group = name ? getgrnam(name) : NULL;

    *found = group ? group->gr_gid : PEER_NO_GROUP;
    return !name || group ? 0 : later_fail(err, LATER_E_CONFIG, "there is no group %.100s", name);
}

static int main_run(const struct options *options, struct later_error *err)
{
    char later[PATH_MAX], tokens[ROLES][TOKEN_MAX + 1];
    const char *argv[ARGUMENTS];
    struct listener listener;
    struct server_options serving = { .guard = options->guard,
                                      .program = { (char *const *)(uintptr_t)argv },
                                      .listener = &listener,
                                      .mask = options->mask,
                                      .user_header = options->user_header,
                                      .notify_file = options->notify_file,
                                      .tasks_file = options->tasks_file };
    int status;

    if (find_later(later, err) < 0 || main_group(&serving.operators, options->operators, err) < 0 ||
        main_tokens(&serving.guard, tokens, options, err) < 0 ||
        listener_open(&listener, options->listen, err) < 0)
        return -1;
    if (listener.is_unix)
        memset(serving.guard.tokens, 0, sizeof serving.guard.tokens);
    arguments(argv, later, options);
    tell_link(&listener, options->token_files[ROLE_ADMIN] ? NULL : tokens[ROLE_ADMIN]);
    status = main_serve(&serving, err);
    listener_close(&listener);
    return status == LATER_OK ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct later_error err = { .code = LATER_E_BUG };
    struct options options;
    int status;

    if (later_standard_take() < 0)
        return LATER_E_SYSTEM;
    status = options_parse(&options, argc, argv);
    if (status >= 0)
        return status;
    log_open(LOG_INFO, false, "later-web");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for the processes of `later serve` */
    if (main_run(&options, &err) == 0)
        return LATER_OK;
    log_line(LOG_ERROR, "%s", err.text);
    return (int)err.code;
}
