/*
 * answer.h: the common form of all answers, with the headers that keep a browser from doing more
 * with them than intended.
 */
#ifndef LATER_WEB_ANSWER_H
#define LATER_WEB_ANSWER_H

#include "asset.h"
#include "http.h"
#include "output/jsonl.h"

/* Sends JSON that may not be stored. */
void answer_json(struct http *http, struct evhttp_request *request, int status, const char *json,
                 size_t len);

/* Sends what `later metrics` prints. */
void answer_metrics(struct http *http, struct evhttp_request *request, const char *text,
                    size_t len);

/* One JSON object. Its members are written between answer_begin() and answer_end(). answer_begin()
 * returns false without memory. answer_end() is due even then, and sends an empty body. */
struct answer {
    struct jsonl json;
    FILE *out;
    char *text;
    size_t len;
};

bool answer_begin(struct answer *answer);
void answer_end(struct answer *answer, struct http *http, struct evhttp_request *request,
                int status);

/* Sends {"error":"why"}. */
void answer_error(struct http *http, struct evhttp_request *request, int status, const char *why);

/* Sends a page, compressed if the browser takes that, or 304 if the browser has it already. */
void answer_asset(struct http *http, struct evhttp_request *request, const struct asset *asset);

/* Begins a stream of events. */
void answer_stream(struct evhttp_request *request);

/* Returns the HTTP status for an exit status of `later`. */
int answer_status(int exit_status);

#endif
