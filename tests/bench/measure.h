/*
 * measure.h: what is measured, and how it is told.
 *
 * CPU time is read from /proc/PID/task/TID/schedstat, in nanoseconds; where the kernel has none,
 * from /proc/PID/stat, in ticks of 10 ms.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Seconds of a monotonic clock; UNIX seconds. */
double now_monotonic(void);
double now_unix(void);

void sleep_seconds(double seconds);

/* CPU seconds that a process, or one with all its descendants, has used so far. */
double cpu_of(pid_t pid);
double cpu_of_tree(pid_t pid);

/* Sorts values and returns the middle one; the one below which `share` of them lie. 0 for none. */
double median(double *values, size_t count);
double percentile(double *values, size_t count, double share);

/* Returns how many commands clients have sent since the server's start, of those kinds that laterd
 * never sends from within a script. (Redis counts commands within scripts too, under their own
 * names.) */
double sent_commands(redisContext *redis);

/* One row of the results: a JSON object on a line of its own, on standard output. */
void row_begin(const char *bench);
void row_text(const char *name, const char *value);
void row_number(const char *name, double value);
void row_end(void);

/* A word on standard error. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says why on standard error, ends everything, status 1. */
void fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
