/*
 * live.h: the streams of those who look: each gets every news of the pulse.
 */
#ifndef LATER_WEB_LIVE_H
#define LATER_WEB_LIVE_H

#include "http.h"

#define LIVE_MAX 64 /* streams at once */

struct live;

/* NULL without memory. */
struct live *live_new(struct http *http);
void live_free(struct live *live);

/* Adds a stream; its first event is all that is known. Returns 0, or -1 where there are too many.
 */
int live_add(struct live *live, struct evhttp_request *request, const char *json, size_t len);

/* To all of them. Returns how many there are. */
size_t live_send(struct live *live, const char *json, size_t len);

#endif
