/*
 * server_log.h: writes the messages of the embedded redis-server to our log, one line each, in our
 * format, as process "redis". What it says at every start and stop is logged only at `debug`, and
 * its warning about vm.overcommit_memory only once, in our words.
 */
#ifndef LATERD_SERVER_LOG_H
#define LATERD_SERVER_LOG_H

struct event_base;
struct server_log;

/* NULL: no memory. */
struct server_log *server_log_new(struct event_base *base);

/* Reads from this pipe until it ends, and closes it then. The rest of an earlier server's output is
 * read first. */
void server_log_read(struct server_log *log, int fd);

/* Reads what is left, and frees it. NULL is fine. */
void server_log_free(struct server_log *log);

#endif
