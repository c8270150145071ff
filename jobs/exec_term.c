/* exec_term.c: blocks the worker's TERM. */
#include "exec_term.h"

#include <sys/signalfd.h>
#include <unistd.h>

static int told = -1; /* one for all jobs, since one for each would cost two calls a job */

void exec_term_block(struct exec_term *term)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    if (told == -1)
        told = signalfd(-1, &set, SFD_CLOEXEC);
    term->blocked = told != -1; /* better no time for the program than none for us */
    if (term->blocked)
        pthread_sigmask(SIG_BLOCK, &set, &term->before);
}

void exec_term_unblock(const struct exec_term *term)
{
    if (term->blocked)
        pthread_sigmask(SIG_SETMASK, &term->before, NULL);
}

bool exec_term_came(const struct exec_term *term)
{
    sigset_t pending;

    return term->blocked && sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

void exec_term_close(void)
{
    if (told != -1)
        close(told);
    told = -1;
}

int exec_term_fd(const struct exec_term *term)
{
    return term->blocked ? told : -1;
}
