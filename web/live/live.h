/*
 * live.h: the event streams of all readers, each of which gets every update of the poller, and
 * those who wait for one answer.
 */
#ifndef LATER_WEB_LIVE_H
#define LATER_WEB_LIVE_H

#include "http/http.h"

#include <stdbool.h>

#define LIVE_MAX 64 /* readers of each kind at once */

struct live;

/* Returns NULL without memory. */
struct live *live_new(struct http *http);
void live_free(struct live *live);

/* What a reader waits for: the whole state and then a stream of updates, the state alone, or the
 * troubles alone. */
enum live_kind { LIVE_STREAM, LIVE_STATE, LIVE_TROUBLES, LIVE_KINDS };

/* Adds a reader. Returns 0, or -1 if there are too many of this kind. */
int live_add(struct live *live, struct evhttp_request *request, enum live_kind kind);

/* Does anybody wait for the whole state, or for troubles? */
bool live_waits(const struct live *live);
bool live_waits_for_troubles(const struct live *live);

/* Sends it to those who wait: as the first event, or as the answer. */
void live_greet(struct live *live, const char *json, size_t len);

/* Answers those who wait for troubles. */
void live_answer(struct live *live, const char *json, size_t len);

/* Sends an event to all streams that have had the whole state. Returns how many streams there are.
 */
size_t live_send(struct live *live, const char *json, size_t len);

#endif
