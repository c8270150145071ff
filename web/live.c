/* live.c: the event streams of all readers. */
#include "live.h"

#include "answer.h"

#include <stdio.h>
#include <stdlib.h>

struct stream {
    struct evhttp_request *request; /* NULL = free */
};

struct live {
    struct http *http;
    struct stream streams[LIVE_MAX];
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

static void gone(void *arg)
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

int live_add(struct live *live, struct evhttp_request *request, const char *json, size_t len)
{
    struct stream *stream = NULL;
    size_t event_len;
    char *event;

    for (size_t i = 0; i < LIVE_MAX && !stream; i++) {
        if (!live->streams[i].request)
            stream = &live->streams[i];
    }
    if (!stream)
        return -1;
    stream->request = request;
    answer_stream(request);
    http_when_gone(live->http, request, gone, stream);
    event = event_of(json, len, &event_len);
    if (event)
        http_stream_send(request, event, event_len);
    free(event);
    return 0;
}

size_t live_send(struct live *live, const char *json, size_t len)
{
    size_t event_len, count = 0;
    char *event = event_of(json, len, &event_len);

    for (size_t i = 0; event && i < LIVE_MAX; i++) {
        if (!live->streams[i].request)
            continue;
        count++;
        http_stream_send(live->streams[i].request, event, event_len);
    }
    free(event);
    return count;
}
