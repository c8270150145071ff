/* live.c: the event streams of all readers. */
#include "live/live.h"

#include "http/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEHIND_MAX 262144 /* bytes of updates that a reader has not taken yet */

struct stream {
    struct evhttp_request *request; /* NULL = free */
    bool waits;                     /* for the whole state, or for troubles */
};

struct live {
    struct http *http;
    struct stream streams[LIVE_KINDS][LIVE_MAX];
};

struct live *live_new(struct http *http)
{
    struct live *live = calloc(1, sizeof *live);

    if (live)
        live->http = http;
    return live;
}

void live_free(struct live *live)
{
    free(live);
}

static void live_gone(void *arg)
{
    ((struct stream *)arg)->request = NULL;
}

/* Returns the JSON as an event. NULL without memory. */
static char *event_of(const char *json, size_t len, size_t *event_len)
{
    char *event = NULL;
    int all = asprintf(&event, "data: %.*s\n\n", (int)len, json);

    *event_len = all > 0 ? (size_t)all : 0;
    return all > 0 ? event : NULL;
}

int live_add(struct live *live, struct evhttp_request *request, enum live_kind kind)
{
    for (size_t i = 0; i < LIVE_MAX; i++) {
        struct stream *stream = &live->streams[kind][i];

        if (stream->request)
            continue;
        *stream = (struct stream){ .request = request, .waits = true };
        if (kind == LIVE_STREAM)
            answer_stream(request);
        http_when_gone(live->http, request, live_gone, stream);
        return 0;
    }
    return -1;
}

static bool live_has_waiting(const struct stream *streams)
{
    for (size_t i = 0; i < LIVE_MAX; i++) {
        if (streams[i].request && streams[i].waits)
            return true;
    }
    return false;
}

bool live_waits(const struct live *live)
{
    return live_has_waiting(live->streams[LIVE_STREAM]) ||
           live_has_waiting(live->streams[LIVE_STATE]);
}

bool live_waits_for_troubles(const struct live *live)
{
    return live_has_waiting(live->streams[LIVE_TROUBLES]);
}

static void live_answer_all(struct live *live, enum live_kind kind, const char *json, size_t len)
{
    for (size_t i = 0; i < LIVE_MAX; i++) {
        struct stream *stream = &live->streams[kind][i];
        struct evhttp_request *request = stream->request;

        if (!request)
            continue;
        stream->request = NULL;
        answer_json(live->http, request, 200, strndup(json, len), len);
    }
}

void live_answer(struct live *live, const char *json, size_t len)
{
    live_answer_all(live, LIVE_TROUBLES, json, len);
}

void live_greet(struct live *live, const char *json, size_t len)
{
    size_t event_len;
    char *event = event_of(json, len, &event_len);

    for (size_t i = 0; event && i < LIVE_MAX; i++) {
        struct stream *stream = &live->streams[LIVE_STREAM][i];

        if (!stream->request || !stream->waits)
            continue;
        stream->waits = false;
        http_stream_send(live->http, stream->request, event, event_len, BEHIND_MAX);
    }
    free(event);
    live_answer_all(live, LIVE_STATE, json, len);
}

size_t live_send(struct live *live, const char *json, size_t len)
{
    size_t event_len, count = 0;
    char *event = event_of(json, len, &event_len);

    for (size_t i = 0; event && i < LIVE_MAX; i++) {
        const struct stream *stream = &live->streams[LIVE_STREAM][i];

        count += stream->request != NULL;
        if (stream->request && !stream->waits)
            http_stream_send(live->http, stream->request, event, event_len, BEHIND_MAX);
    }
    free(event);
    return count;
}
