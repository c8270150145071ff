/*
 * exec_fixture.h: the exec plugin in the fake host, with one job of type exec.it.
 */
#ifndef EXEC_FIXTURE_H
#define EXEC_FIXTURE_H

#include "fake_host.h"
#include "unit.h"

extern const struct later_plugin *plugin;
extern struct later_job *job;

/* A test case in which each test has a fresh plugin and job. Misuses fail the test. */
void exec_begin(void);
void exec_end(void);
#define EXEC_CASE(name) CASE(name, exec_begin, exec_end)

/* Sets an option of plugins.config.exec, which must be accepted. */
void option(const char *key, const char *value);

/* Makes exec.it run sh -c TEXT. */
void script(const char *text);

/* Makes exec.it run sh -c TEXT as a long-lived program. */
void lines(const char *text);

/* As lines(), TEXT being done for each line of input, which is in $line. */
void each_line(const char *text);

/* What a script says to answer the usual job. DONE: it is done. */
#define ANSWER(rest) "echo '{\"id\":\"job-1\"," rest "}' >&3"
#define DONE         ANSWER("\"result\":\"done\"")

/* Another job in place of the usual one: its payload is a JSON string of `len` bytes. */
void large_job(size_t len);

/* Performs the job, which must end so. */
void expect(enum later_result result);

/* Performs the job again. */
void again(enum later_result result);

/* The job's error must be this. */
void expect_error(const char *error);

#endif
