/* merge.c: all jobs of a queue and its shards in one order. */
#include "jobs/merge.h"

#include "choose/members.h"

#include <string.h>

void merge_begin(struct merge *merge, struct cli *cli, const struct whole *whole, const char *state,
                 uint64_t offset, uint64_t most)
{
    *merge = (struct merge){ .cli = cli, .state = state, .left = most, .count = whole->count };
    merge->by_token = strcmp(state, "reserved") == 0;
    for (size_t i = 0; i < whole->count; i++)
        merge->sources[i].keys = &whole->parts[i];
    if (whole->count == 1) { /* with several parts, the first jobs may be in any of them */
        merge->sources[0].offset = offset;
    } else {
        merge->over = offset;
        merge->left += offset;
    }
}

void merge_end(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        later_reply_free(merge->sources[i].page);
        later_reply_free(merge->sources[i].tokens);
    }
}

/* Each part probably has about the same share of the jobs. One page more costs little. */
static size_t page_size(const struct merge *merge)
{
    uint64_t share = (merge->left + merge->count - 1) / merge->count;

    return share < LATER_BATCH_MAX ? (size_t)share : LATER_BATCH_MAX;
}

static int merge_read_some(const struct merge *merge, struct merge_source *source,
                           const char *token, struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_reply_free(source->page);
    later_inspect_peek(&cmd, source->keys, merge->state, token, source->offset, page_size(merge));
    source->page = cli_call(merge->cli, &cmd, err);
    if (!source->page)
        return -1;
    source->at = 0;
    source->count = later_inspect_peeked_count(source->page);
    source->offset += source->count;
    source->ended = source->count == 0; /* a page may be short, because documents are bounded too */
    return 0;
}

/* Reads one token after the other, those whose leases end first before the others. */
static int read_reserved(const struct merge *merge, struct merge_source *source,
                         struct later_error *err)
{
    int ok = source->tokens ? 0 : members_tokens(merge->cli, source->keys, &source->tokens, err);

    source->ended = true;
    while (ok == 0 && source->ended && source->token < later_reply_count(source->tokens) / 2) {
        ok = merge_read_some(merge, source, members_token(source->tokens, source->token), err);
        if (ok == 0 && source->ended) {
            source->token++;
            source->offset = 0;
        }
    }
    return ok;
}

static int merge_read_page(const struct merge *merge, struct merge_source *source,
                           struct later_error *err)
{
    return merge->by_token ? read_reserved(merge, source, err)
                           : merge_read_some(merge, source, "", err);
}

/* Finds the next job of a source. The score of a reserved job is the end of its lease. */
static void merge_look_at(const struct merge *merge, const struct merge_source *source,
                          struct later_seen *seen)
{
    later_inspect_peeked(source->page, source->at, seen);
    if (merge->by_token)
        seen->score = later_reply_seconds(later_reply_at(source->tokens, 2 * source->token + 1), 0);
}

/* Returns the part whose next job has the least score, and that job in *seen. NULL if no part has a
 * job. */
static struct merge_source *merge_least(struct merge *merge, struct later_seen *seen)
{
    struct merge_source *found = NULL;

    for (size_t i = 0; i < merge->count; i++) {
        struct merge_source *source = &merge->sources[i];
        struct later_seen next;

        if (source->ended)
            continue;
        merge_look_at(merge, source, &next);
        if (!found || next.score < seen->score) {
            found = source;
            *seen = next;
        }
    }
    return found;
}

static int next(struct merge *merge, struct later_seen *seen, struct later_error *err)
{
    struct merge_source *source;

    if (merge->left == 0)
        return 0;
    for (size_t i = 0; i < merge->count; i++) {
        source = &merge->sources[i];
        if (!source->ended && source->at == source->count &&
            merge_read_page(merge, source, err) < 0)
            return -1;
    }
    source = merge_least(merge, seen);
    if (!source)
        return 0;
    source->at++;
    merge->left--;
    seen->state = merge->state;
    return 1;
}

int merge_next(struct merge *merge, struct later_seen *seen, struct later_error *err)
{
    int more = 1;

    for (; merge->over > 0 && more > 0; merge->over--)
        more = next(merge, seen, err);
    return more > 0 ? next(merge, seen, err) : more;
}
