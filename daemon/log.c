/* log.c: lines on standard error. */
#include "log.h"

#include "base/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096 /* PIPE_BUF: written whole or not at all */
#define TEXT_MAX_BYTES 3000 /* of them for the text; the rest is for the job's fields */
#define END_BYTES      2    /* `}` and the line's end */

static struct {
    enum log_level level;
    bool json;
    char name[32];
    unsigned long dropped; /* standard error was full */
    unsigned long over;    /* dropped because of the limit */
    uint32_t limit, lines; /* a second; in this second */
    time_t second;
    int fd;       /* standard error opened again, non-blocking; -1 = none */
    bool journal; /* standard error is systemd's journal */
} state = { .level = LOG_INFO, .name = "laterd", .fd = -1 };

/* A line that is being built. What does not fit is left out, but never half of a character or of a
 * member. */
struct line {
    char text[LINE_MAX_BYTES];
    size_t len;
};

/* ---- standard error */

static bool is_stderr(int fd)
{
    struct stat ours, theirs;

    return fstat(fd, &ours) == 0 && fstat(STDERR_FILENO, &theirs) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* systemd.exec(5): $JOURNAL_STREAM has the device and inode of the stream to the journal. */
static bool is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat st;

    return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/* A pipe or a terminal is opened again, so that O_NONBLOCK is ours alone: other processes share the
 * description that we were given. poll(2) would not do instead. If several processes see the last
 * free space of a pipe, all but one of them would block. */
static void open_stderr(void)
{
    struct stat st;

    if (state.fd >= 0 && is_stderr(state.fd))
        close(state.fd); /* otherwise the descriptor was closed, and the number may be another file
                          * now */
    state.fd = -1;
    if (fstat(STDERR_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || isatty(STDERR_FILENO)))
        state.fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    state.journal = is_journal();
}

static bool write_now(const char *text, size_t len)
{
    struct pollfd poller = { .fd = STDERR_FILENO, .events = POLLOUT };
    ssize_t sent = send(STDERR_FILENO, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent >= 0 || errno != ENOTSOCK)
        return sent == (ssize_t)len;
    if (state.fd >= 0 && is_stderr(state.fd)) /* a handler may have closed it */
        return write(state.fd, text, len) == (ssize_t)len;
    return poll(&poller, 1, 0) == 1 && (poller.revents & POLLOUT) &&
           write(STDERR_FILENO, text, len) == (ssize_t)len;
}

void log_open(enum log_level level, bool json, const char *name)
{
    state.level = level;
    state.json = json;
    if (name)
        snprintf(state.name, sizeof state.name, "%s", name);
    open_stderr();
}

void log_limit(uint32_t lines)
{
    state.limit = lines;
}

bool log_wants(enum log_level level)
{
    return level <= state.level;
}

/* ---- a line */

/* Adds the bytes if they fit into the first `most` bytes of the line. */
static bool log_add_bytes(struct line *line, size_t most, const char *bytes, size_t len)
{
    if (line->len + len > most)
        return false;
    memcpy(line->text + line->len, bytes, len);
    line->len += len;
    return true;
}

static bool log_add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool log_add(struct line *line, const char *format, ...)
{
    char text[128];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return len >= 0 && (size_t)len < sizeof text &&
           log_add_bytes(line, sizeof line->text - END_BYTES, text, (size_t)len);
}

/* Adds text up to `most` bytes of the line. If quoted, its quotes and backslashes are escaped. */
static void add_escaped(struct line *line, size_t most, const char *text, bool quoted)
{
    const char *c = text;
    char piece[8];

    while (*c) {
        uint32_t number;
        size_t size = later_character(c, strnlen(c, 4), &number);
        const char *bytes = c;
        size_t len = size;

        if (!size || later_character_hidden(number)) {
            bytes = piece;
            len = 1;
            piece[0] = later_character_instead(size, number);
            if (state.json)
                len = (size_t)snprintf(piece, sizeof piece, "\\u%04x", size ? number : 0xfffdU);
        } else if (quoted && (*c == '"' || *c == '\\')) {
            bytes = piece;
            len = 2;
            piece[0] = '\\';
            piece[1] = *c;
        }
        if (!log_add_bytes(line, most, bytes, len))
            return;
        c += size ? size : 1;
    }
}

/* Adds text in quotes, up to `most` bytes of the line with the second quote. */
static void add_quoted(struct line *line, size_t most, const char *text)
{
    log_add_bytes(line, most, "\"", 1);
    add_escaped(line, most - 1, text, true);
    log_add_bytes(line, most, "\"", 1);
}

/* Adds a member, or nothing if there is hardly any room. */
static void log_add_field(struct line *line, const char *name, const char *text)
{
    size_t most = sizeof line->text - END_BYTES;

    if (!text || line->len + strlen(name) + 16 > most)
        return;
    log_add(line, state.json ? ",\"%s\":" : " %s=", name);
    if (state.json || !*text || text[strcspn(text, " \"=\\")])
        add_quoted(line, most, text);
    else
        add_escaped(line, most, text, false);
}

static void add_job(struct line *line, const struct log_job *job)
{
    log_add_field(line, "job", job->id);
    log_add_field(line, "queue", job->queue);
    log_add_field(line, "type", job->type);
    if (job->attempt)
        log_add(line, state.json ? ",\"attempt\":%u" : " attempt=%u", (unsigned)job->attempt);
    if (job->worker)
        log_add(line, state.json ? ",\"worker\":%u" : " worker=%u", (unsigned)job->worker);
    if (job->ms >= 0 && job->ms < 1e15) { /* with integers: a handler may change the locale */
        unsigned long long micros = (unsigned long long)(job->ms * 1000 + 0.5);

        log_add(line, state.json ? ",\"ms\":%llu.%03llu" : " ms=%llu.%03llu", micros / 1000,
                micros % 1000);
    }
    log_add_field(line, "trace", job->trace);
}

static void log_add_time(struct line *line)
{
    struct timespec now;
    struct tm parts;
    char text[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    log_add(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

const char *log_level_name(enum log_level level)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };

    return names[level <= LOG_DEBUG ? level : LOG_DEBUG];
}

/* Returns false if it could not be written. */
static bool log_write_line(enum log_level level, const struct log_job *job, const char *words)
{
    static const int priorities[] = { 3, 4, 6, 7 }; /* sd-daemon(3) */
    struct line line;

    line.len = 0;
    if (state.journal)
        log_add(&line, "<%d>", priorities[level]);
    if (state.json) {
        log_add(&line, "{\"time\":\"");
        log_add_time(&line);
        log_add(&line, "\",\"level\":\"%s\",\"process\":\"%s\",\"text\":", log_level_name(level),
                state.name);
        add_quoted(&line, TEXT_MAX_BYTES, words);
    } else {
        if (!state.journal) {
            log_add_time(&line);
            log_add(&line, " ");
        }
        log_add(&line, "%s %s: ", log_level_name(level), state.name);
        add_escaped(&line, TEXT_MAX_BYTES, words, false);
    }
    if (job)
        add_job(&line, job);
    if (state.json)
        line.text[line.len++] = '}';
    line.text[line.len++] = '\n';
    return write_now(line.text, line.len);
}

/* Counts a line of this second. Returns whether it is over the limit. */
static bool over_limit(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec != state.second) {
        state.second = now.tv_sec;
        state.lines = 0;
    }
    return state.limit && ++state.lines > state.limit;
}

static bool log_tell_count(unsigned long *count, const char *why)
{
    char words[96];

    if (!*count)
        return true;
    snprintf(words, sizeof words, "%lu log lines were dropped: %s", *count, why);
    if (!log_write_line(LOG_WARN, NULL, words))
        return false;
    *count = 0;
    return true;
}

/* Before a line, says how many were dropped. If that cannot be written, the line is dropped too. */
static bool tell_dropped(void)
{
    return log_tell_count(&state.dropped, "standard error was full") &&
           log_tell_count(&state.over, "more than log.rate a second");
}

void log_jobv(enum log_level level, const struct log_job *job, const char *format, va_list args)
{
    char words[2048];

    if (!log_wants(level))
        return;
    if (over_limit()) {
        state.over++;
        return;
    }
    vsnprintf(words, sizeof words, format, args);
    if (!tell_dropped() || !log_write_line(level, job, words))
        state.dropped++;
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_jobv(level, NULL, format, args);
    va_end(args);
}

void log_from(const char *process, enum log_level level, const char *words)
{
    char ours[sizeof state.name];

    memcpy(ours, state.name, sizeof ours);
    snprintf(state.name, sizeof state.name, "%s", process);
    log_line(level, "%s", words);
    memcpy(state.name, ours, sizeof ours);
}

void log_job(enum log_level level, const struct log_job *job, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_jobv(level, job, format, args);
    va_end(args);
}
