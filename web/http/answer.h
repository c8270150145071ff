/*
 * answer.h: the common form of all answers, with the headers that keep a browser from doing more
 * with them than intended.
 */
#ifndef LATER_WEB_ANSWER_H
#define LATER_WEB_ANSWER_H

#include "http/asset.h"
#include "http/http.h"
#include "output/jsonl.h"

/* Sends a text of this Content-Type, which may not be stored. Takes over the text, which was
 * malloc'ed. */
void answer_text(struct http *http, struct evhttp_request *request, int status, const char *type,
                 char *text, size_t len);

/* The same with JSON; with {}. */
void answer_json(struct http *http, struct evhttp_request *request, int status, char *json,
                 size_t len);
void answer_nothing(struct http *http, struct evhttp_request *request);

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

/* Does Accept prefer OpenMetrics to plain text? */
bool answer_open_metrics(struct evhttp_request *request);

/* Sends a page, compressed if the browser takes that, or 304 if the browser has it already. */
void answer_asset(struct http *http, struct evhttp_request *request, const struct asset *asset);

/* Begins a stream of events. */
void answer_stream(struct evhttp_request *request);

/* The same, of a file of this Content-Type and name, which a browser saves. */
void answer_file(struct evhttp_request *request, const char *type, const char *name);

/* Returns the HTTP status for an exit status of `later`. */
int answer_status(int exit_status);

#endif
