/* identity.c: a name for the laterd of a state_dir that stays over restarts. */
#include "identity.h"

#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_LEN 16

/* Reads an id. Returns whether the file has one. */
static bool read_id(const char *path, char id[ID_LEN + 1])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t len = fd < 0 ? -1 : read(fd, id, ID_LEN);

    if (fd >= 0)
        close(fd);
    id[len > 0 ? len : 0] = '\0';
    return strspn(id, "0123456789abcdef") == ID_LEN;
}

/* Writes it beside and renames it, so that the file has a whole id or the one before. */
static bool write_id(const char *path, const char *id)
{
    char beside[600];
    int fd;
    bool ok;

    snprintf(beside, sizeof beside, "%s.new", path);
    fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0)
        return false;
    ok = write(fd, id, ID_LEN) == ID_LEN && write(fd, "\n", 1) == 1;
    close(fd);
    return ok && rename(beside, path) == 0;
}

int identity_read(const char *state_dir, const char *host, char identity[IDENTITY_SIZE],
                  struct later_error *err)
{
    char path[512], id[ID_LEN + 1];
    uint64_t random;

    snprintf(path, sizeof path, "%s/identity", state_dir);
    if (!read_id(path, id)) {
        later_random(&random, sizeof random);
        snprintf(id, sizeof id, "%016" PRIx64, random);
        if (!write_id(path, id))
            return later_fail(err, LATER_E_CONFIG,
                              "state_dir: %s: %s; it must be a directory of laterd's own", path,
                              strerror(errno));
    }
    snprintf(identity, IDENTITY_SIZE, "%s:%s", host, id);
    return 0;
}
