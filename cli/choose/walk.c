/* walk.c: all members of a set in use, each once. */
#include "choose/walk.h"

#include "base/digest.h"
#include "queue/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *walk_member(const struct walk *walk, size_t i, size_t *len)
{
    return later_reply_text(later_reply_at(walk->page, 2 * i), len);
}

const char *walk_score(const struct walk *walk, size_t i)
{
    return later_reply_text_at(walk->page, 2 * i + 1);
}

static bool has_score(const struct walk *walk, size_t i)
{
    return strcmp(walk_score(walk, i), walk->score) == 0;
}

/* Is member i the last one seen, or before it? Members of one score are ordered by their bytes. */
static bool is_seen(const struct walk *walk, size_t i)
{
    size_t len, least;
    const char *member = walk_member(walk, i, &len);
    int order;

    if (!walk->last || !walk->last_len || !has_score(walk, i))
        return false;
    least = len < walk->last_len ? len : walk->last_len;
    order = memcmp(member, walk->last, least);
    if (order == 0)
        order = (len > walk->last_len) - (len < walk->last_len);
    return walk->back ? order >= 0 : order <= 0;
}

static int walk_read_page(struct walk *walk, uint64_t offset, struct later_error *err)
{
    const char *first = walk->back ? "+inf" : "-inf", *from = walk->last ? walk->score : first;
    struct later_command cmd = { 0 };

    later_reply_free(walk->page);
    if (walk->back)
        later_inspect_back(&cmd, walk->keys, walk->set, from, offset, WALK_PAGE);
    else
        later_inspect_from(&cmd, walk->keys, walk->set, from, offset, WALK_PAGE);
    walk->page = cli_call(walk->cli, &cmd, err);
    walk->count = later_reply_count(walk->page) / 2;
    return walk->page ? 0 : -1;
}

/* Finds the page that begins with a member already seen, so that none in between is missed.
 * `offset` becomes that member's place among those of its score. If members have gone, the page is
 * found further back. */
static int walk_find_page(struct walk *walk, uint64_t *offset, struct later_error *err)
{
    *offset = walk->equals > 0 ? walk->equals - 1 : 0;
    for (;;) {
        if (walk_read_page(walk, *offset, err) < 0)
            return -1;
        if (*offset == 0 || (walk->count > 0 && is_seen(walk, 0)))
            return 0;
        *offset -= *offset < WALK_PAGE ? *offset : WALK_PAGE;
    }
}

uint64_t walk_equals(const struct walk *walk, size_t i)
{
    size_t first = i;

    while (first > 0 && strcmp(walk_score(walk, first - 1), walk_score(walk, i)) == 0)
        first--;
    return i - first + 1 + (first == 0 ? walk->before : 0);
}

/* Notes member i of the page as the last one seen. */
static int note_seen(struct walk *walk, size_t i, struct later_error *err)
{
    size_t len;
    const char *member = walk_member(walk, i, &len);
    char *copy = malloc(len + 1);

    if (!copy)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    memcpy(copy, member, len + 1);
    free(walk->last);
    walk->last = copy;
    walk->last_len = len;
    snprintf(walk->score, sizeof walk->score, "%s", walk_score(walk, i));
    walk->equals = walk_equals(walk, i);
    return 0;
}

int walk_next(struct walk *walk, struct later_error *err)
{
    uint64_t offset;

    do {
        if (walk_find_page(walk, &offset, err) < 0)
            return -1;
        walk->from = 0;
        while (walk->from < walk->count && is_seen(walk, walk->from))
            walk->from++;
        if (walk->from == walk->count && walk->count < WALK_PAGE)
            return 0;
        /* New members came before the last one, so the page has nothing new. */
        if (walk->from == walk->count)
            walk->equals = offset + walk->count;
    } while (walk->from == walk->count);
    walk->before = walk->last && has_score(walk, 0) ? offset : 0;
    return note_seen(walk, walk->count - 1, err) < 0 ? -1 : 1;
}

int walk_behind(struct walk *walk, const char *score, const char *member, struct later_error *err)
{
    snprintf(walk->score, sizeof walk->score, "%s", score);
    walk->last = strdup(member);
    if (!walk->last)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    walk->last_len = strlen(member);
    return 0;
}

/* Finds the member on the page. Returns its place, or `count`. */
static size_t find_digest(const struct walk *walk, const char *digest)
{
    char other[LATER_DIGEST_SIZE];
    size_t i = 0, len;

    for (; i < walk->count && has_score(walk, i); i++) {
        const char *member = walk_member(walk, i, &len);

        later_digest(member, len, other);
        if (strcmp(other, digest) == 0)
            return i;
    }
    return walk->count;
}

int walk_behind_digest(struct walk *walk, const char *score, const char *digest, uint64_t equals,
                       struct later_error *err)
{
    uint64_t offset = equals > 0 ? equals - 1 : 0;

    if (walk_behind(walk, score, "", err) < 0)
        return -1;
    for (;;) {
        size_t i;

        if (walk_read_page(walk, offset, err) < 0)
            return -1;
        walk->before = offset;
        i = find_digest(walk, digest);
        if (i < walk->count)
            return note_seen(walk, i, err);
        if (offset == 0)
            break;
        offset -= offset < WALK_PAGE ? offset : WALK_PAGE;
    }
    if (equals < 2) /* it was the first one */
        return 0;
    walk->before = equals - 2;
    if (walk_read_page(walk, walk->before, err) < 0)
        return -1;
    return walk->count > 0 && has_score(walk, 0) ? note_seen(walk, 0, err) : 0;
}

void walk_end(struct walk *walk)
{
    later_reply_free(walk->page);
    free(walk->last);
}
