/*
 * answer.h: answers as all of them are: with the headers that keep a browser from doing more with
 * them than we want.
 */
#ifndef LATER_WEB_ANSWER_H
#define LATER_WEB_ANSWER_H

#include "asset.h"
#include "http.h"
#include "output/jsonl.h"

/* JSON, never stored. */
void answer_json(struct http *http, struct evhttp_request *request, int status, const char *json,
                 size_t len);

/* What `later metrics` prints. */
void answer_metrics(struct http *http, struct evhttp_request *request, const char *text,
                    size_t len);

/* One JSON object: members go between the two. answer_begin() returns false without memory:
 * answer_end() is due even then, and answers nothing in it. */
struct answer {
    struct jsonl json;
    FILE *out;
    char *text;
    size_t len;
};

bool answer_begin(struct answer *answer);
void answer_end(struct answer *answer, struct http *http, struct evhttp_request *request,
                int status);

/* {"error":"why"} */
void answer_error(struct http *http, struct evhttp_request *request, int status, const char *why);

/* A page, packed where the browser takes that; 304 where it has it already. */
void answer_asset(struct http *http, struct evhttp_request *request, const struct asset *asset);

/* Begins a stream of events. */
void answer_stream(struct evhttp_request *request);

/* The HTTP status for an exit status of `later`. */
int answer_status(int exit_status);

#endif
