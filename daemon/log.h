/*
 * log.h: one line per event, on standard error, as text or JSON.
 *
 * A line is one write of at most 4,096 bytes, so that lines of several processes do not mix. It
 * never blocks: if standard error cannot take it (a full pipe, a full disk), the line is dropped
 * and counted, and the next line that gets through says how many were. Bytes that are not UTF-8,
 * control characters and changes of text direction are replaced, so no job can forge a line. A JSON
 * line is always valid JSON; if it is too long, its text is cut before a job's members are.
 *
 * If standard error is systemd's journal ($JOURNAL_STREAM), a line begins with its priority, `<4>`,
 * and as text has no time, since the journal has its own.
 *
 * This is the only module with state of its own; main and each new process call log_open().
 */
#ifndef LATERD_LOG_H
#define LATERD_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* What the lines of a job carry. NULL and 0 members are left out. */
struct log_job {
    const char *id, *queue, *type, *trace;
    uint32_t attempt;
    uint32_t worker; /* its number */
    double ms;       /* run time; < 0 = not known */
};

/* Sets the level, the format and the name of this process ("laterd", "worker 3"). name is copied;
 * NULL keeps it. */
void log_open(enum log_level level, bool json, const char *name);

/* Limits the lines a second of this process; 0 = no limit, as at first. Lines above it are dropped
 * and counted, like those that standard error cannot take. A queue of failing jobs must not fill a
 * disk. */
void log_limit(uint32_t lines);

/* Would a line of this level be written? */
bool log_wants(enum log_level level);

/* "error", "warn", "info" or "debug"; what is beyond is "debug". */
const char *log_level_name(enum log_level level);

void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Logs a line of another program, which is shown as the process. */
void log_from(const char *process, enum log_level level, const char *words);
void log_job(enum log_level level, const struct log_job *job, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_jobv(enum log_level level, const struct log_job *job, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
