/* slots.c: pages shared by supervisor and worker. */
#include "slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "laterd1";

static struct slots *map(const char *path, int fd, size_t size, struct later_error *err)
{
    struct slots *slots = calloc(1, sizeof *slots);

    if (!slots || !(slots->path = strdup(path))) {
        free(slots);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    slots->size = size;
    slots->page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (slots->page == MAP_FAILED) {
        later_fail(err, LATER_E_SYSTEM, "%s: mmap: %s", path, strerror(errno));
        free(slots->path);
        free(slots);
        return NULL;
    }
    return slots;
}

struct slots *slots_create(const char *path, uint32_t capacity, struct later_error *err)
{
    size_t size = sizeof(struct slots_page) + capacity * sizeof(struct slot);
    struct slots *slots = NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    else
        slots = map(path, fd, size, err);
    if (fd >= 0)
        close(fd);
    if (!slots)
        return NULL;
    slots->page->slot_size = sizeof(struct slot);
    slots->page->capacity = capacity;
    memcpy(slots->page->magic, magic, sizeof magic);
    return slots;
}

/* Was it written by a laterd with the same layout? */
static bool valid(const struct slots_page *page, size_t size)
{
    return size >= sizeof *page && memcmp(page->magic, magic, sizeof magic) == 0 &&
           page->slot_size == sizeof(struct slot) && page->queue_count <= SLOTS_QUEUES &&
           size == sizeof *page + (size_t)page->capacity * sizeof(struct slot);
}

struct slots *slots_open(const char *path, struct later_error *err)
{
    struct slots *slots = NULL;
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 || fstat(fd, &st) < 0)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    else if (st.st_size < (off_t)sizeof(struct slots_page))
        later_fail(err, LATER_E_DATA, "%s: not a page of this laterd", path);
    else
        slots = map(path, fd, (size_t)st.st_size, err);
    if (fd >= 0)
        close(fd);
    if (slots && !valid(slots->page, slots->size)) {
        later_fail(err, LATER_E_DATA, "%s: not a page of this laterd", path);
        slots_close(slots, false);
        return NULL;
    }
    return slots;
}

void slots_close(struct slots *slots, bool remove)
{
    if (!slots)
        return;
    munmap(slots->page, slots->size);
    if (remove)
        unlink(slots->path);
    free(slots->path);
    free(slots);
}

bool slot_move(struct slot *slot, enum slot_state from, enum slot_state to)
{
    uint32_t expected = (uint32_t)from;

    return atomic_compare_exchange_strong(&slot->state, &expected, (uint32_t)to);
}

enum slot_state slot_state(struct slot *slot)
{
    return (enum slot_state)atomic_load_explicit(&slot->state, memory_order_acquire);
}

/* Cut at a whole UTF-8 character, so that the JSON made of it is valid. */
static void copy_text(char *to, size_t room, const char *from)
{
    size_t len = strlen(from);

    if (len >= room) {
        len = room - 1;
        while (len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(to, from, len);
    to[len] = '\0';
}

void slot_finish(struct slot *slot, enum later_verb verb, double wait, const char *how,
                 const char *kind, const char *text)
{
    slot->verb = (uint32_t)verb;
    slot->wait = wait;
    copy_text(slot->how, sizeof slot->how, how);
    copy_text(slot->kind, sizeof slot->kind, kind);
    copy_text(slot->text, sizeof slot->text, text);
}

void slot_logv(struct slot *slot, const char *format, va_list args)
{
    vsnprintf(slot->text, sizeof slot->text, format, args);
}

bool slots_busy(struct slots *slots)
{
    uint32_t used = atomic_load(&slots->page->used);

    for (uint32_t i = 0; i < used && i < slots->page->capacity; i++) {
        if (slot_state(&slots->page->slots[i]) != SLOT_FREE)
            return true;
    }
    return false;
}
