/* password.c: a password from a file. */
#include "redis/password.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int later_password_read(const char *path, char password[LATER_PASSWORD_MAX], enum later_code code,
                        struct later_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st = { .st_mode = 0 };
    ssize_t got = fd < 0 || fstat(fd, &st) < 0 ? -1 : read(fd, password, LATER_PASSWORD_MAX - 1);
    int why = errno;

    if (fd >= 0)
        close(fd);
    if (S_ISREG(st.st_mode) && (st.st_mode & S_IRWXO))
        return later_fail(err, code,
                          "password file %s: others may read or change it (mode %04o); chmod "
                          "o-rwx it",
                          path, (unsigned)st.st_mode & 07777U);
    if (got < 0)
        return later_fail(err, code, "password file %s: %s", path, strerror(why));
    password[got] = '\0';
    password[strcspn(password, "\r\n")] = '\0';
    if (!password[0])
        return later_fail(
            err, code, "password file %s: its first line is empty; the password goes there", path);
    return 0;
}
