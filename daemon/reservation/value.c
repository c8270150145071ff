/* value.c: the values of done jobs. */
#include "reservation/value.h"

#include "job/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK ".value-"

static void path_of(const struct slots *slots, size_t index, char *path, size_t room)
{
    snprintf(path, room, "%s" MARK "%zu", slots->path, index);
}

static size_t value_index_of(const struct slots *slots, const struct slot *slot)
{
    return (size_t)(slot - slots->page->slots);
}

/* Writes all of it, or fails. */
static int value_write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static int write_file(struct slots *slots, struct slot *slot, const char *value, size_t len,
                      struct later_error *err)
{
    size_t index = value_index_of(slots, slot);
    char path[800];
    int fd, result;

    path_of(slots, index, path, sizeof path);
    if (index >= atomic_load_explicit(&slots->page->values, memory_order_relaxed))
        atomic_store_explicit(&slots->page->values, (uint32_t)index + 1, memory_order_relaxed);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    result = fd < 0 ? -1 : value_write_all(fd, value, len);
    if (result < 0)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return result;
}

int value_keep(struct slots *slots, struct slot *slot, const char *value, size_t len,
               struct later_error *err)
{
    slot->value_len = 0;
    if (len <= SLOT_TEXT)
        memcpy(slot->text, value, len);
    else if (write_file(slots, slot, value, len, err) < 0)
        return -1;
    slot->value_len = (uint32_t)len;
    return 0;
}

/* A handler may have put something in its place; that is refused if it is not a regular file or has
 * another length. */
static size_t value_read_file(const struct slots *slots, const struct slot *slot, size_t len,
                              char *value)
{
    char path[800];
    size_t have = 0;
    ssize_t n = 1;
    int fd;

    path_of(slots, value_index_of(slots, slot), path, sizeof path);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    while (fd >= 0 && have < len && (n = read(fd, value + have, len - have)) > 0)
        have += (size_t)n;
    if (fd >= 0)
        close(fd);
    return have == len ? len : 0;
}

size_t value_read(const struct slots *slots, const struct slot *slot, char *value)
{
    size_t len = *(const volatile uint32_t *)&slot->value_len; /* read once: it may change */
    struct later_error ignored;

    if (len == 0 || len > LATER_VALUE_MAX)
        return 0;
    if (len <= SLOT_TEXT)
        memcpy(value, slot->text, len);
    else
        len = value_read_file(slots, slot, len, value);
    atomic_signal_fence(memory_order_seq_cst); /* what follows reads the copy, not the slot */
    return len > 0 && later_json_scan(value, len, NULL, 0, &ignored) == 0 ? len : 0;
}

void value_drop(const struct slots *slots, const struct slot *slot)
{
    char path[800];

    if (slot->value_len <= SLOT_TEXT)
        return;
    path_of(slots, value_index_of(slots, slot), path, sizeof path);
    unlink(path);
}

void value_sweep(const struct slots *slots)
{
    uint32_t values = atomic_load(&slots->page->values);
    char path[800];

    for (uint32_t i = 0; i < values && i < slots->capacity; i++) {
        path_of(slots, i, path, sizeof path);
        unlink(path);
    }
}

bool value_is_file(const char *name, char *page, size_t room)
{
    const char *mark = strstr(name, MARK);

    if (mark)
        snprintf(page, room, "%.*s", (int)(mark - name), name);
    return mark;
}
