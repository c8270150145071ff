/*
 * live.h: the event streams of all readers. Each gets every update of the poller.
 */
#ifndef LATER_WEB_LIVE_H
#define LATER_WEB_LIVE_H

#include "http.h"

#include <stdbool.h>

#define LIVE_MAX 64 /* streams at once, and as many readers of one state */

struct live;

/* Returns NULL without memory. */
struct live *live_new(struct http *http);
void live_free(struct live *live);

/* Adds a reader, who waits for the whole state: of a stream or, with `once`, of nothing more.
 * Returns 0, or -1 if there are too many. */
int live_add(struct live *live, struct evhttp_request *request, bool once);

/* Does anybody wait for the whole state? */
bool live_waits(const struct live *live);

/* Sends it to those who wait: as the first event, or as the answer. */
void live_greet(struct live *live, const char *json, size_t len);

/* Sends an event to all streams that have had the whole state. Returns how many streams there are.
 */
size_t live_send(struct live *live, const char *json, size_t len);

#endif
