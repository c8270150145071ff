/* log.c: lines on standard error. */
#include "log.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096 /* PIPE_BUF: written whole or not at all */

static struct {
    enum log_level level;
    bool json;
    char name[32];
    unsigned long dropped;
} state = { .level = LOG_INFO, .name = "laterd" };

/* A line in the making. What does not fit is cut; room for the end is kept. */
struct line {
    char text[LINE_MAX_BYTES];
    size_t len;
};

void log_open(enum log_level level, bool json, const char *name)
{
    state.level = level;
    state.json = json;
    if (name)
        snprintf(state.name, sizeof state.name, "%s", name);
}

bool log_wants(enum log_level level)
{
    return level <= state.level;
}

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->text - 8 - line->len;
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(line->text + line->len, room, format, args);
    va_end(args);
    if (len > 0)
        line->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* As a JSON string, or as it is where it needs no quotes. */
static void add_text(struct line *line, const char *text, bool quote)
{
    if (quote)
        add(line, "\"");
    for (; *text && line->len < sizeof line->text - 16; text++) {
        unsigned char c = (unsigned char)*text;

        if (quote && (c == '"' || c == '\\'))
            add(line, "\\%c", c);
        else if (c < ' ' || c == 127)
            add(line, quote && state.json ? "\\u%04x" : "?", c);
        else
            line->text[line->len++] = *text;
    }
    if (quote)
        add(line, "\"");
}

static void add_field(struct line *line, const char *name, const char *text)
{
    bool plain = text && !text[strcspn(text, " \"=\\")] && *text;

    if (!text)
        return;
    if (state.json)
        add(line, ",\"%s\":", name);
    else
        add(line, " %s=", name);
    add_text(line, text, state.json || !plain);
}

static void add_job(struct line *line, const struct log_job *job)
{
    add_field(line, "job", job->id);
    add_field(line, "queue", job->queue);
    add_field(line, "type", job->type);
    if (job->attempt)
        add(line, state.json ? ",\"attempt\":%u" : " attempt=%u", (unsigned)job->attempt);
    if (job->ms >= 0)
        add(line, state.json ? ",\"ms\":%.3f" : " ms=%.3f", job->ms);
    add_field(line, "trace", job->trace);
}

static void put(struct line *line)
{
    struct pollfd poller = { .fd = STDERR_FILENO, .events = POLLOUT };

    line->text[line->len++] = '\n';
    if (poll(&poller, 1, 0) == 1 && (poller.revents & POLLOUT) &&
        write(STDERR_FILENO, line->text, line->len) == (ssize_t)line->len)
        return;
    state.dropped++;
}

static void add_time(struct line *line)
{
    struct timespec now;
    struct tm parts;
    char text[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    add(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void write_line(enum log_level level, const struct log_job *job, const char *words)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    struct line line = { .len = 0 };

    if (state.json) {
        add(&line, "{\"time\":\"");
        add_time(&line);
        add(&line, "\",\"level\":\"%s\",\"process\":\"%s\",\"text\":", names[level], state.name);
        add_text(&line, words, true);
    } else {
        add_time(&line);
        add(&line, " %s %s: ", names[level], state.name);
        add_text(&line, words, false);
    }
    if (job)
        add_job(&line, job);
    if (state.json)
        line.text[line.len++] = '}';
    put(&line);
}

void log_jobv(enum log_level level, const struct log_job *job, const char *format, va_list args)
{
    char words[2048];

    if (!log_wants(level))
        return;
    if (state.dropped) {
        unsigned long dropped = state.dropped;

        state.dropped = 0;
        snprintf(words, sizeof words, "%lu log lines were dropped: standard error was full",
                 dropped);
        write_line(LOG_WARN, NULL, words);
        if (state.dropped)
            state.dropped += dropped;
    }
    vsnprintf(words, sizeof words, format, args);
    write_line(level, job, words);
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_jobv(level, NULL, format, args);
    va_end(args);
}

void log_job(enum log_level level, const struct log_job *job, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_jobv(level, job, format, args);
    va_end(args);
}
