/*
 * server_log.h: the embedded redis-server's messages in our log: a line each, in our format, from
 * the process "redis". Its messages at every start and stop are logged only at `debug`, and its
 * warning about vm.overcommit_memory once, in our words.
 */
#ifndef LATERD_SERVER_LOG_H
#define LATERD_SERVER_LOG_H

struct event_base;
struct server_log;

/* NULL: no memory. */
struct server_log *server_log_new(struct event_base *base);

/* Reads from this pipe until its end; it is closed then. What an earlier server still had to say
 * is read first. */
void server_log_read(struct server_log *log, int fd);

/* Reads what there is, and frees. NULL is fine. */
void server_log_free(struct server_log *log);

#endif
