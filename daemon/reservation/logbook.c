/* logbook.c: what a running job logs. */
#include "reservation/logbook.h"

#include "job/document.h"
#include "job/json.h"
#include "reservation/value.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536           /* bytes of a file */
#define HEAD     "{\"dropped\":" /* of what is kept */
#define LINES    ",\"lines\":["  /* after the number */
#define BEGIN                                                                                      \
    ",{\"at\":" /* of a line, after another one; no text has it, since there a                     \
                 * quote is escaped */

/* Handlers may log from several threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The last lines of a text. */
struct tail {
    const char *text;
    size_t len;
    uint32_t count;
};

/* At most `most` lines, and LATER_LOG_BYTES. */
static struct tail tail_of(const char *text, size_t len, uint32_t most)
{
    const size_t mark = sizeof BEGIN - 1;
    struct tail tail = { .text = text + len };

    for (const char *at = text + len; at > text && tail.count < most;) {
        for (at--; at > text && ((size_t)(text + len - at) < mark || memcmp(at, BEGIN, mark) != 0);)
            at--;
        if ((size_t)(text + len - at) > LATER_LOG_BYTES)
            break;
        tail.text = at;
        tail.count++;
    }
    tail.text += tail.count > 0 && tail.text > text; /* the comma */
    tail.len = (size_t)(text + len - tail.text);
    return tail;
}

/* Reads what is kept of earlier attempts; returns how many lines there have been before. */
static uint32_t logbook_earlier(const char *earlier, size_t len, struct tail *tail)
{
    const size_t head = sizeof HEAD - 1, lines = sizeof LINES - 1;
    size_t digits, begin;

    *tail = (struct tail){ .text = "" };
    if (len < head || memcmp(earlier, HEAD, head) != 0)
        return 0;
    digits = strspn(earlier + head, "0123456789");
    begin = head + digits + lines;
    if (digits == 0 || digits > 9 || len < begin + 2 ||
        memcmp(earlier + head + digits, LINES, lines) != 0)
        return 0;
    *tail = tail_of(earlier + begin, len - begin - 2, LATER_LOG_MAX);
    return (uint32_t)strtoul(earlier + head, NULL, 10) + tail->count;
}

/* Begins the file, or makes it short, with these lines. */
static bool logbook_begin(struct slots *slots, struct slot *slot, struct tail tail)
{
    struct later_error ignored;

    if (value_replace(slots, slot, VALUE_LOG, tail.text, tail.len, &ignored) < 0)
        return false;
    atomic_store_explicit(&slot->log_len, (uint32_t)tail.len, memory_order_release);
    return true;
}

/* So that another line fits. The file is read into memory, since it is replaced. */
static bool logbook_shorten(struct slots *slots, struct slot *slot)
{
    size_t len = atomic_load_explicit(&slot->log_len, memory_order_relaxed);
    char *text = malloc(FILE_MAX);
    bool ok = text && len <= FILE_MAX;

    if (ok) {
        len = value_read_file(slots, slot, VALUE_LOG, len, text);
        ok = logbook_begin(slots, slot, tail_of(text, len, LATER_LOG_MAX));
    }
    free(text);
    return ok;
}

static void logbook_append(struct slots *slots, struct slot *slot, const char *line, size_t len,
                           const char *earlier, size_t earlier_len)
{
    uint32_t logged = atomic_load_explicit(&slot->logged, memory_order_relaxed);
    struct later_error ignored;
    struct tail tail;
    bool first;

    if (logged == 0) {
        logged = logbook_earlier(earlier, earlier_len, &tail);
        if (!logbook_begin(slots, slot, tail))
            return;
    }
    if (atomic_load_explicit(&slot->log_len, memory_order_relaxed) + len > FILE_MAX &&
        !logbook_shorten(slots, slot))
        return;
    first = atomic_load_explicit(&slot->log_len, memory_order_relaxed) == 0;
    if (value_append(slots, slot, VALUE_LOG, line + first, len - first, &ignored) == 0)
        atomic_fetch_add_explicit(&slot->log_len, (uint32_t)(len - first), memory_order_release);
    atomic_store_explicit(&slot->logged, logged + 1, memory_order_release);
}

void logbook_add(struct slots *slots, struct slot *slot, const struct logbook_line *line,
                 const char *earlier, size_t earlier_len)
{
    long long micros = (long long)(line->at * 1e6); /* a handler may change the locale */
    char *words, *text;
    int len;

    if (slot->logs_kept == 0)
        return;
    words = later_document_quote(line->text, strlen(line->text));
    len = words ? asprintf(&text, BEGIN "%lld.%06d,\"attempt\":%u,\"level\":\"%s\",\"text\":%s}",
                           micros / 1000000, (int)(micros % 1000000), (unsigned)line->attempt,
                           line->level, words)
                : -1;
    free(words);
    if (len < 0)
        return;
    pthread_mutex_lock(&lock);
    logbook_append(slots, slot, text, (size_t)len, earlier, earlier_len);
    pthread_mutex_unlock(&lock);
    free(text);
}

/* Returns the length, 0 without lines. json: room for LOGBOOK_SIZE. */
static size_t logbook_put(char *json, uint32_t logged, struct tail tail)
{
    struct later_error ignored;
    int head;
    size_t len;

    if (tail.count == 0)
        return 0;
    head = snprintf(json, LOGBOOK_SIZE, HEAD "%u" LINES,
                    (unsigned)(logged > tail.count ? logged - tail.count : 0));
    len = (size_t)head + tail.len;
    memcpy(json + head, tail.text, tail.len);
    memcpy(json + len, "]}", 2);
    return later_json_scan(json, len + 2, NULL, 0, &ignored) == 0 ? len + 2 : 0;
}

size_t logbook_read(const struct slots *slots, const struct slot *slot, char *json)
{
    /* read once: they may change */
    uint32_t most = *(const volatile uint32_t *)&slot->logs_kept;
    uint32_t logged = atomic_load_explicit(&slot->logged, memory_order_acquire);
    size_t len = atomic_load_explicit(&slot->log_len, memory_order_acquire);
    char *text = logged > 0 && len <= FILE_MAX ? malloc(FILE_MAX) : NULL;

    if (!text)
        return 0;
    len = value_read_file(slots, slot, VALUE_LOG, len, text);
    len =
        logbook_put(json, logged, tail_of(text, len, most < LATER_LOG_MAX ? most : LATER_LOG_MAX));
    free(text);
    return len;
}
