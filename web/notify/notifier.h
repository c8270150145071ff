/*
 * notifier.h: posts the begin and the end of each trouble to a URL (notices.h says which, post.h
 * how), also while nobody looks at the pages.
 */
#ifndef LATER_WEB_NOTIFIER_H
#define LATER_WEB_NOTIFIER_H

#include "tasks/serve.h"

struct event_base;
struct notifier;

/* Called every second: asks for troubles, if that is due. Their answer goes to notifier_answer().
 */
typedef void notifier_fn(void *arg);

/* The URL (post.h) is the first line of this file, which others must not be able to read. Returns
 * NULL with *err. */
struct notifier *notifier_new(struct event_base *base, const char *file, notifier_fn *fn, void *arg,
                              struct later_error *err);
void notifier_free(struct notifier *notifier); /* NULL is allowed */

/* What takes the answers to `later status --trouble --json`. */
struct serve_answer notifier_answer(struct notifier *notifier);

#endif
