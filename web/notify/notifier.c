/* notifier.c: posts the begin and the end of troubles. */
#include "notify/notifier.h"

#include "base/clock.h"
#include "log.h"
#include "notify/notices.h"
#include "notify/post.h"
#include "redis/password.h"
#include "live/troubles.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct notifier {
    struct event *timer;
    struct post *post;
    struct notices *notices;
    notifier_fn *fn;
    void *arg;
};

static void notifier_line(void *arg, const char *line, size_t len)
{
    struct notifier *notifier = arg;

    notices_line(notifier->notices, line, len);
}

static void notifier_end(void *arg, int status, const char *rest)
{
    struct notifier *notifier = arg;
    char words[SERVE_WORDS];

    serve_words(rest, words);
    notices_end(notifier->notices, troubles_are_known(status) ? NULL : words);
}

struct serve_answer notifier_answer(struct notifier *notifier)
{
    return (struct serve_answer){ .line = notifier_line, .end = notifier_end, .arg = notifier };
}

static void notifier_posted(void *arg, const char *why)
{
    struct notifier *notifier = arg;

    if (!notices_told(notifier->notices, !why, later_clock()))
        log_line(LOG_ERROR, "a trouble could not be posted to %s: %s: given up after %d times",
                 post_where(notifier->post), why, NOTICES_TRIES);
    else if (why)
        log_line(LOG_WARN, "a trouble could not be posted to %s: %s: it will be tried again",
                 post_where(notifier->post), why);
}

static void notifier_look(evutil_socket_t fd, short what, void *arg)
{
    struct notifier *notifier = arg;
    char *text;

    (void)fd;
    (void)what;
    notifier->fn(notifier->arg);
    text = notices_next(notifier->notices, later_clock());
    if (text)
        post_send(notifier->post, text, notifier_posted, notifier);
    free(text);
}

static struct post *notifier_open(struct event_base *base, const char *file,
                                  struct later_error *err)
{
    char url[LATER_PASSWORD_MAX];
    struct post *post = NULL;

    if (later_password_read(file, url, LATER_E_CONFIG, err) == 0)
        post = post_new(base, url, file, err);
    explicit_bzero(url, sizeof url);
    return post;
}

struct notifier *notifier_new(struct event_base *base, const char *file, notifier_fn *fn, void *arg,
                              struct later_error *err)
{
    struct timeval second = { .tv_sec = 1 };
    struct notifier *notifier = calloc(1, sizeof *notifier);

    later_fail(err, LATER_E_SYSTEM, "no memory");
    if (!notifier)
        return NULL;
    *notifier = (struct notifier){ .fn = fn, .arg = arg };
    notifier->notices = notices_new();
    notifier->timer = event_new(base, -1, EV_PERSIST, notifier_look, notifier);
    if (notifier->notices && notifier->timer && event_add(notifier->timer, &second) == 0)
        notifier->post = notifier_open(base, file, err);
    if (notifier->post)
        return notifier;
    notifier_free(notifier);
    return NULL;
}

void notifier_free(struct notifier *notifier)
{
    if (!notifier)
        return;
    if (notifier->timer)
        event_free(notifier->timer);
    post_free(notifier->post);
    notices_free(notifier->notices);
    free(notifier);
}
