/* notices.c: the begin and end of troubles. */
#include "notify/notices.h"

#include "base/backoff.h"
#include "base/digest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MISSING 2  /* answers without it after which a trouble has ended */
#define FAILED  2  /* questions without an answer after which Redis is away */
#define ID      16 /* hexadecimal digits of a trouble's id */
#define NOWHERE -1

/* Is in the way of `since`: what is before it says which trouble it is. */
#define REST ",\"since\":"
#define TEXT ",\"text\":\""
#define OVER "over: " /* before the text of one that has ended */
#define AWAY                                                                                       \
    "{\"rule\":\"redis_away\",\"severity\":\"critical\",\"queue\":null,\"host\":null,"             \
    "\"type\":null" REST "null,\"count\":0,\"text\":\"Redis cannot be asked\",\"why\":%s,"         \
    "\"command\":\"later status\"}"

struct notice {
    char *line; /* as it was seen last; owned */
    char id[LATER_DIGEST_SIZE];
    int missing; /* answers without it */
    int nth;     /* in the present answer, in which there are worse ones before it */
    int before;  /* in the last one, or NOWHERE */
    bool begun;  /* its begin was told */
};

struct notices {
    struct notice all[NOTICES_MAX + 1]; /* one more for Redis */
    size_t count, lines;                /* lines: of the present answer */
    int failed;                         /* questions without an answer, one after the other */
    /* What is being told. */
    bool tells, tells_end;
    char told_id[LATER_DIGEST_SIZE];
    unsigned tries;
    double not_before;
};

struct notices *notices_new(void)
{
    return calloc(1, sizeof(struct notices));
}

static void notices_drop(struct notices *notices, struct notice *notice)
{
    free(notice->line);
    memmove(notice, notice + 1,
            (size_t)(notices->all + --notices->count - notice) * sizeof *notice);
}

void notices_free(struct notices *notices)
{
    while (notices && notices->count > 0)
        notices_drop(notices, &notices->all[notices->count - 1]);
    free(notices);
}

static struct notice *notices_find(struct notices *notices, const char *id)
{
    for (size_t i = 0; i < notices->count; i++) {
        if (strcmp(notices->all[i].id, id) == 0)
            return &notices->all[i];
    }
    return NULL;
}

static void notices_see(struct notices *notices, const char *line, size_t len, size_t room)
{
    const char *rest = memmem(line, len, REST, strlen(REST));
    char id[LATER_DIGEST_SIZE], *copy = strndup(line, len);
    struct notice *notice;

    later_digest(line, rest ? (size_t)(rest - line) : len, id);
    id[ID] = '\0';
    notice = notices_find(notices, id);
    if (!copy || (!notice && notices->count >= room)) {
        free(copy);
        return;
    }
    if (!notice) {
        notice = &notices->all[notices->count++];
        *notice = (struct notice){ .before = NOWHERE };
        memcpy(notice->id, id, sizeof id);
    }
    free(notice->line);
    notice->line = copy;
    notice->missing = -1; /* notices_end() counts all */
    notice->nth = (int)notices->lines;
}

void notices_line(struct notices *notices, const char *line, size_t len)
{
    notices_see(notices, line, len, NOTICES_MAX);
    notices->lines++;
}

static void notices_fail(struct notices *notices, const char *away)
{
    char *line = NULL;
    int len;

    if (++notices->failed < FAILED)
        return;
    len = asprintf(&line, AWAY, away);
    if (len < 0)
        return;
    notices_see(notices, line, (size_t)len, NOTICES_MAX + 1);
    free(line);
}

/* What is missing may be beyond those that are named, unless it was before one that still is.
 * Returns the place, in the last answer, before which what is missing has ended. */
static int notices_reach(const struct notices *notices)
{
    int reach = notices->lines < NOTICES_MAX ? INT_MAX : 0;

    for (size_t i = 0; i < notices->count; i++) {
        const struct notice *notice = &notices->all[i];

        if (notice->missing < 0 && notice->before > reach)
            reach = notice->before;
    }
    return reach;
}

static bool notices_is_over(const struct notice *notice, int reach)
{
    return reach == INT_MAX || notice->missing > 0 ||
           (notice->before != NOWHERE && notice->before < reach);
}

void notices_end(struct notices *notices, const char *away)
{
    int reach = away ? 0 : notices_reach(notices);

    if (away)
        notices_fail(notices, away);
    else
        notices->failed = 0;
    notices->lines = 0;
    for (size_t i = 0; i < notices->count; i++) {
        struct notice *notice = &notices->all[i];

        if (notice->missing < 0) {
            notice->missing = 0;
            notice->before = notice->nth;
        } else if (!away) {
            if (notice->missing < MISSING && notices_is_over(notice, reach))
                notice->missing++;
            notice->before = NOWHERE;
        }
    }
}

/* What tells of a notice. NULL without memory. */
static char *notices_say(const struct notice *notice)
{
    const char *line = notice->line + 1, *text = strstr(line, TEXT);
    int before = text ? (int)(text - line + (ptrdiff_t)strlen(TEXT)) : 0;
    char *said = NULL;

    return asprintf(&said, "{\"event\":\"%s\",\"id\":\"%s\",%.*s%s%s",
                    notice->begun ? "end" : "begin", notice->id, before, line,
                    notice->begun && text ? OVER : "", line + before) < 0
               ? NULL
               : said;
}

char *notices_next(struct notices *notices, double now)
{
    struct notice *next = NULL;
    char *text = NULL;

    if (notices->tells || now < notices->not_before)
        return NULL;
    for (size_t i = notices->count; i-- > 0;) {
        struct notice *notice = &notices->all[i];

        if (!notice->begun || (notice->missing >= MISSING && (!next || next->begun)))
            next = notice;
    }
    if (!next || !(text = notices_say(next)))
        return NULL;
    notices->tells = true;
    notices->tells_end = next->begun;
    memcpy(notices->told_id, next->id, sizeof next->id);
    return text;
}

bool notices_told(struct notices *notices, bool taken, double now)
{
    static const struct later_backoff waits = { .base = 1, .max = 300 };
    struct notice *notice = notices_find(notices, notices->told_id);
    bool given_up = !taken && ++notices->tries >= NOTICES_TRIES;

    notices->tells = false;
    if (!taken && !given_up) {
        notices->not_before = now + later_backoff_delay(&waits, notices->tries, 0);
        return true;
    }
    notices->tries = 0;
    if (notice && notices->tells_end)
        notices_drop(notices, notice);
    else if (notice)
        notice->begun = true;
    return !given_up;
}
