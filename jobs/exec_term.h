/*
 * exec_term.h: the worker's own TERM waits while a program has its job, so that the program is told
 * first, and has some time to clean up.
 */
#ifndef LATER_JOBS_EXEC_TERM_H
#define LATER_JOBS_EXEC_TERM_H

#include <signal.h>
#include <stdbool.h>

/* How the calling thread has blocked TERM. */
struct exec_term {
    sigset_t before; /* the mask to go back to */
    bool blocked;    /* false: there was no descriptor, and TERM does what it always does */
};

void exec_term_block(struct exec_term *term);

/* If TERM has come in the meantime, this does not return. */
void exec_term_unblock(const struct exec_term *term);

/* exec_term_came(): must the worker end? exec_term_fd(): readable from then on; -1 = that is not
 * known. It stays open until exec_term_close(). */
bool exec_term_came(const struct exec_term *term);
int exec_term_fd(const struct exec_term *term);

void exec_term_close(void);

#endif
