/*
 * scenarios.h: the scenarios of bench.c. Each prints rows; the members that they share:
 *
 *     rate         jobs a second
 *     redis_us     CPU microseconds of Redis a job
 *     laterd_us    CPU microseconds of all processes of laterd (or of the pushing client) a job
 *     sent         commands sent a job
 *     ceiling_redis_us  the same of the ceiling program
 *     ratio        to the ceiling program, or to what the row compares; the median of the runs'
 */
#ifndef BENCH_SCENARIOS_H
#define BENCH_SCENARIOS_H

void bench_push(void);     /* push_bulk push_one push_file */
void bench_drain(void);    /* drain ceiling */
void bench_queues(void);   /* queues: 1 busy of 8 */
void bench_backlog(void);  /* backlog: 1,000,000 against 10,000 */
void bench_aof(void);      /* aof: push and drain with an append-only file */
void bench_latency(void);  /* latency */
void bench_lateness(void); /* lateness */
void bench_due(void);      /* due: a million at once */
void bench_events(void);   /* events: 1,000 of a second */
void bench_slow(void);     /* slow: 2 s in front of 1,000 fast ones */
void bench_crowd(void);    /* crowd: 1,000 workers, one job of 10 ms each at a time */
void bench_idle(void);     /* idle */
void bench_shards(void);   /* shards: eight of them against none, on a Cluster */
void bench_tls(void);      /* tls: over TCP, plain and by TLS */
void bench_peer(void);     /* peer: what peers/run.sh sets beside others, over loopback TCP */
void bench_pickup(void);   /* pickup: the same, one push every 20 ms */
void bench_base(void);     /* base: against an older build, in turns */

#endif
