/*
 * live.h: the event streams of all readers. Each gets every update of the pulse.
 */
#ifndef LATER_WEB_LIVE_H
#define LATER_WEB_LIVE_H

#include "http.h"

#define LIVE_MAX 64 /* streams at once */

struct live;

/* Returns NULL without memory. */
struct live *live_new(struct http *http);
void live_free(struct live *live);

/* Adds a stream. Its first event is the whole state. Returns 0, or -1 if there are too many. */
int live_add(struct live *live, struct evhttp_request *request, const char *json, size_t len);

/* Sends an event to all streams. Returns how many there are. */
size_t live_send(struct live *live, const char *json, size_t len);

#endif
