/*
 * fuzz_web.c: any request at later-web's door: who gets in, and which command comes of it.
 *
 * Lines: method, path, query or body, then Host, Origin, Sec-Fetch-Site, Content-Type, Cookie,
 * Authorization; an empty one is no header.
 */
#include "fuzz.h"

#include "http/guard.h"
#include "tasks/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 9

/* The word is in the table, or stands where no option is read. */
static void check_word(const struct order *order, size_t i, const struct params *params)
{
    const char *word = order->words[i];
    bool behind = false;

    for (size_t j = 0; j < i; j++)
        behind |= strcmp(order->words[j], "--") == 0;
    for (size_t j = 0; j < params->count; j++)
        must(behind || word != params->all[j].value, "a value cannot become an option");
    must(behind || i == 0 || strncmp(word, "--", 2) == 0, "what stands before -- is an option");
}

static void order_of(const char *path, bool post, const char *text, size_t len)
{
    struct params params;
    struct order order;
    const char *why = NULL;
    char *spelled;
    int status;

    if ((post ? params_body(&params, text, len) : params_query(&params, text)) < 0) {
        must(params.count == 0, "what cannot be read leaves nothing");
        return;
    }
    status = route_order(&order, path, post, &params, &why);
    must(status == 0 || (status >= 400 && why), "a refusal has its reason");
    if (status == 0) {
        must(order.act == post, "what changes something is a POST");
        must(order.count > 0 && order.count <= ORDER_WORDS, "words");
        must(order.words[order.count] == NULL, "their end");
        for (size_t i = 0; i < order.count; i++)
            check_word(&order, i, &params);
        spelled = route_spell(&order);
        must(spelled && strncmp(spelled, "later ", 6) == 0, "a command");
        free(spelled);
    }
    params_free(&params);
}

static void guard_of(char *const lines[LINES], bool post)
{
    const struct guard guard = { .hosts = { "later.example" },
                                 .host_count = 1,
                                 .tokens = { [ROLE_ADMIN] = "0123456789abcdef" } };
    const char *headers[6], *why = NULL; /* the fifth is no longer read, as it was a cookie */
    struct guard_request request;
    int status;

    for (size_t i = 0; i < 6; i++)
        headers[i] = lines[3 + i][0] ? lines[3 + i] : NULL;
    request = (struct guard_request){ .host = headers[0],
                                      .origin = headers[1],
                                      .site = headers[2],
                                      .type = headers[3],
                                      .authorization = headers[5],
                                      .post = post,
                                      .needs = ROLE_OPERATOR };
    status = guard_refuses(&guard, &request, &why);
    must(status == 0 || (status >= 400 && why && *why), "a refusal has its reason");
    if (status == 0) {
        must(headers[0] && !strstr(headers[0], "evil"), "a name of another is refused");
        must(headers[5] && strstr(headers[5], guard.tokens[ROLE_ADMIN]),
             "nobody gets in without the token");
        must(!post || headers[1] || headers[2], "a POST says where it comes from");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *lines[LINES], *rest = text;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < LINES; i++) {
        lines[i] = rest;
        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
    }
    order_of(lines[1], strcmp(lines[0], "POST") == 0, lines[2], strlen(lines[2]));
    guard_of(lines, strcmp(lines[0], "POST") == 0);
    free(text);
    return 0;
}
