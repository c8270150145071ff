/* standard.c: standard input, output and error that are closed. */
#include "base/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int later_standard_take(void)
{
    /* The wrong way round for input and output, so that using them is an error. */
    static const int modes[] = { O_WRONLY, O_RDONLY, O_WRONLY };

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            return -1;
    }
    return 0;
}
