/* answer.c: the common form of all answers. */
#include "http/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Only our own files may be loaded, data never becomes markup, and nobody may put us into a
 * frame. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "                 \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types later"

static void answer_add_headers(struct evhttp_request *request, const char *type)
{
    http_add_header(request, "Content-Type", type);
    http_add_header(request, "Content-Security-Policy", POLICY);
    http_add_header(request, "X-Content-Type-Options", "nosniff");
    http_add_header(request, "Referrer-Policy", "no-referrer");
    http_add_header(request, "Cross-Origin-Resource-Policy", "same-origin");
    http_add_header(request, "Cross-Origin-Opener-Policy", "same-origin");
}

void answer_text(struct http *http, struct evhttp_request *request, int status, const char *type,
                 char *text, size_t len)
{
    answer_add_headers(request, type);
    http_add_header(request, "Cache-Control", "no-store");
    http_answer_text(http, request, status, text, len);
}

void answer_json(struct http *http, struct evhttp_request *request, int status, char *json,
                 size_t len)
{
    answer_text(http, request, status, "application/json", json, len);
}

void answer_nothing(struct http *http, struct evhttp_request *request)
{
    answer_json(http, request, 200, strdup("{}\n"), 3);
}

bool answer_begin(struct answer *answer)
{
    *answer = (struct answer){ 0 };
    answer->out = open_memstream(&answer->text, &answer->len);
    if (answer->out)
        jsonl_begin(&answer->json, answer->out);
    return answer->out != NULL;
}

void answer_end(struct answer *answer, struct http *http, struct evhttp_request *request,
                int status)
{
    if (answer->out) {
        jsonl_end(&answer->json);
        fclose(answer->out);
    }
    answer_json(http, request, status, answer->text, answer->len);
}

void answer_error(struct http *http, struct evhttp_request *request, int status, const char *why)
{
    struct answer answer;

    if (answer_begin(&answer))
        jsonl_text(&answer.json, "error", why);
    answer_end(&answer, http, request, status);
}

/* Does Accept-Encoding name gzip, without refusing it by q=0? */
static bool takes_packed(struct evhttp_request *request)
{
    const char *accepts = http_header(request, "Accept-Encoding");
    const char *gzip = accepts ? strstr(accepts, "gzip") : NULL;

    return gzip && strncmp(gzip, "gzip;q=0", 8) != 0;
}

/* Returns how much this type is wanted, 0 to 1. 0 = it is not named. */
static double wanted(const char *accept, const char *type)
{
    double most = 0;

    while (*accept) {
        size_t item = strcspn(accept, ","), name = strcspn(accept, ";, ");
        const char *q = memmem(accept, item, ";q=", 3);
        double here = q ? strtod(q + 3, NULL) : 1;

        if (name == strlen(type) && strncasecmp(accept, type, name) == 0 && here > most)
            most = here;
        accept += item;
        accept += strspn(accept, ", ");
    }
    return most;
}

bool answer_open_metrics(struct evhttp_request *request)
{
    const char *accept = http_header(request, "Accept");
    double open = accept ? wanted(accept, "application/openmetrics-text") : 0;

    return open > 0 && open >= wanted(accept, "text/plain");
}

void answer_asset(struct http *http, struct evhttp_request *request, const struct asset *asset)
{
    const char *known = http_header(request, "If-None-Match");

    answer_add_headers(request, asset->type);
    http_add_header(request, "Cache-Control", "no-cache");
    http_add_header(request, "ETag", asset->tag);
    http_add_header(request, "Vary", "Accept-Encoding");
    if (known && strstr(known, asset->tag)) {
        http_answer(http, request, 304, NULL, 0);
    } else if (takes_packed(request)) {
        http_add_header(request, "Content-Encoding", "gzip");
        http_answer(http, request, 200, asset->packed, asset->packed_len);
    } else {
        http_answer(http, request, 200, asset->plain, asset->plain_len);
    }
}

static void answer_long(struct evhttp_request *request, const char *type)
{
    answer_add_headers(request, type);
    http_add_header(request, "Cache-Control", "no-store");
    /* For nginx, which would buffer the stream. */
    http_add_header(request, "X-Accel-Buffering", "no");
    http_stream(request);
}

void answer_stream(struct evhttp_request *request)
{
    answer_long(request, "text/event-stream");
}

void answer_file(struct evhttp_request *request, const char *type, const char *name)
{
    char header[200];

    snprintf(header, sizeof header, "attachment; filename=\"%s\"", name);
    http_add_header(request, "Content-Disposition", header);
    answer_long(request, type);
}

int answer_status(int exit_status)
{
    static const struct {
        int exit, http;
    } statuses[] = {
        { LATER_OK, 200 },      { LATER_E_USAGE, 400 }, { LATER_E_DATA, 422 },
        { LATER_E_NONE, 404 },  { LATER_E_REDIS, 503 }, { LATER_E_LATER, 409 },
        { LATER_E_TOKEN, 403 },
    };

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].exit == exit_status)
            return statuses[i].http;
    }
    return 500;
}
