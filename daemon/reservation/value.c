/* value.c: the values of done jobs, where others go on, and other files of a slot. */
#include "reservation/value.h"

#include "job/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK       ".value-"
#define CHECKPOINT ".at"  /* a slot's other files, with VALUE_LOG */
#define WRITTEN    ".new" /* while one is being written */

static void path_of(const struct slots *slots, size_t index, const char *kind, char *path,
                    size_t room)
{
    snprintf(path, room, "%s" MARK "%zu%s", slots->path, index, kind);
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

/* how: O_TRUNC or O_APPEND. */
static int write_file(struct slots *slots, const struct slot *slot, const char *kind, int how,
                      const char *value, size_t len, struct later_error *err)
{
    size_t index = value_index_of(slots, slot);
    char path[800];
    int fd, result;

    path_of(slots, index, kind, path, sizeof path);
    if (index >= atomic_load_explicit(&slots->page->values, memory_order_relaxed))
        atomic_store_explicit(&slots->page->values, (uint32_t)index + 1, memory_order_relaxed);
    fd = open(path, O_WRONLY | O_CREAT | how | O_NOFOLLOW | O_CLOEXEC, 0600);
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
    else if (write_file(slots, slot, "", O_TRUNC, value, len, err) < 0)
        return -1;
    slot->value_len = (uint32_t)len;
    return 0;
}

int value_append(struct slots *slots, const struct slot *slot, const char *kind, const char *bytes,
                 size_t len, struct later_error *err)
{
    return write_file(slots, slot, kind, O_APPEND, bytes, len, err);
}

int value_replace(struct slots *slots, const struct slot *slot, const char *kind, const char *bytes,
                  size_t len, struct later_error *err)
{
    char written[800], path[800], draft[16];

    snprintf(draft, sizeof draft, "%s" WRITTEN, kind);
    if (write_file(slots, slot, draft, O_TRUNC, bytes, len, err) < 0)
        return -1;
    path_of(slots, value_index_of(slots, slot), draft, written, sizeof written);
    path_of(slots, value_index_of(slots, slot), kind, path, sizeof path);
    if (rename(written, path) < 0)
        return later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    return 0;
}

size_t value_read_file(const struct slots *slots, const struct slot *slot, const char *kind,
                       size_t len, char *value)
{
    char path[800];
    size_t have = 0;
    ssize_t n = 1;
    int fd;

    path_of(slots, value_index_of(slots, slot), kind, path, sizeof path);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    while (fd >= 0 && have < len && (n = read(fd, value + have, len - have)) > 0)
        have += (size_t)n;
    if (fd >= 0)
        close(fd);
    return have;
}

static bool value_is_json(const char *value, size_t len)
{
    struct later_error ignored;

    return len > 0 && later_json_scan(value, len, NULL, 0, &ignored) == 0;
}

size_t value_read(const struct slots *slots, const struct slot *slot, char *value)
{
    size_t len = *(const volatile uint32_t *)&slot->value_len; /* read once: it may change */

    if (len == 0 || len > LATER_VALUE_MAX)
        return 0;
    if (len <= SLOT_TEXT)
        memcpy(value, slot->text, len);
    else if (value_read_file(slots, slot, "", len, value) < len)
        return 0;
    atomic_signal_fence(memory_order_seq_cst); /* what follows reads the copy, not the slot */
    return value_is_json(value, len) ? len : 0;
}

int value_keep_checkpoint(struct slots *slots, struct slot *slot, const char *json, size_t len,
                          struct later_error *err)
{
    if (value_replace(slots, slot, CHECKPOINT, json, len, err) < 0)
        return -1;
    atomic_fetch_add_explicit(&slot->checkpoint, 1, memory_order_release);
    return 0;
}

size_t value_read_checkpoint(const struct slots *slots, const struct slot *slot, char *json)
{
    size_t len = 0;

    if (atomic_load_explicit(&slot->checkpoint, memory_order_acquire) > 0)
        len = value_read_file(slots, slot, CHECKPOINT, LATER_VALUE_MAX, json);
    return value_is_json(json, len) ? len : 0;
}

static void value_unlink(const struct slots *slots, size_t index, const char *kind)
{
    char path[800];

    path_of(slots, index, kind, path, sizeof path);
    unlink(path);
}

void value_drop(const struct slots *slots, const struct slot *slot)
{
    if (slot->value_len > SLOT_TEXT)
        value_unlink(slots, value_index_of(slots, slot), "");
    if (atomic_load_explicit(&slot->checkpoint, memory_order_relaxed) > 0)
        value_unlink(slots, value_index_of(slots, slot), CHECKPOINT);
    if (atomic_load_explicit(&slot->logged, memory_order_relaxed) > 0)
        value_unlink(slots, value_index_of(slots, slot), VALUE_LOG);
}

void value_sweep(const struct slots *slots)
{
    static const char *const kinds[] = { "", CHECKPOINT, CHECKPOINT WRITTEN, VALUE_LOG,
                                         VALUE_LOG WRITTEN };
    uint32_t values = atomic_load(&slots->page->values);

    for (uint32_t i = 0; i < values && i < slots->capacity; i++) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            value_unlink(slots, i, kinds[k]);
    }
}

bool value_is_file(const char *name, char *page, size_t room)
{
    const char *mark = strstr(name, MARK);

    if (mark)
        snprintf(page, room, "%.*s", (int)(mark - name), name);
    return mark;
}
