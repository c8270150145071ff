/* lost.c: what is known of writes that Redis has lost. */
#include "queue/lost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *words;
} sums[LATER_SUMS] = {
    [LATER_SUM_PUSHED] = { "pushed", "pushed" },
    [LATER_SUM_RESERVED] = { "reserved", "handed out" },
    [LATER_SUM_ENDED] = { "ended", "ended" },
};

const char *later_sum_name(enum later_sum sum)
{
    return sums[sum].name;
}

const char *later_sum_words(enum later_sum sum)
{
    return sums[sum].words;
}

/* --- sums --- */

void later_lost_ask(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "HGETALL %s", keys->name[LATER_KEY_STATS]);
}

void later_lost_summed(const struct later_reply *reply, struct later_sums *into)
{
    struct later_sizes sizes;

    memset(&sizes, 0, sizeof sizes);
    later_inspect_counted(reply, 0, &sizes);
    *into = (struct later_sums){ .of = { 0 } };
    into->of[LATER_SUM_RESERVED] = sizes.counters[LATER_COUNT_RESERVED];
    for (int i = 0; i < LATER_CONSERVED; i++)
        into->of[i <= LATER_COUNT_ADOPTED ? LATER_SUM_PUSHED : LATER_SUM_ENDED] +=
            sizes.counters[i];
}

enum later_sum later_lost_back(const struct later_sums *before, const struct later_sums *after)
{
    enum later_sum sum = 0;

    while (sum < LATER_SUMS && after->of[sum] >= before->of[sum])
        sum++;
    return sum;
}

/* --- later:lost --- */

void later_lost_note(struct later_command *cmd, const char *prefix, const struct later_lost *lost)
{
    char key[LATER_KEY_MAX], text[400];

    later_key_lost(key, prefix);
    snprintf(text, sizeof text, "%s %" PRIu64 " %" PRIu64 " %.3f %s", later_sum_name(lost->sum),
             lost->before, lost->after, lost->at, lost->host);
    later_command_say(cmd, "HSET %s %s %s", key, lost->queue, text);
}

void later_lost_keep(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_lost(key, prefix);
    later_command_say(cmd, "PEXPIRE %s %d", key, LATER_LOST_SECONDS * 1000);
}

void later_lost_look(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_lost(key, prefix);
    later_command_say(cmd, "HGETALL %s", key);
}

void later_lost_drop(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_lost(key, prefix);
    later_command_say(cmd, "DEL %s", key);
}

bool later_lost_read(const struct later_reply *reply, size_t i, struct later_lost *lost)
{
    const char *queue = later_reply_text(later_reply_at(reply, 2 * i), NULL);
    const char *text = later_reply_text(later_reply_at(reply, 2 * i + 1), NULL);
    char name[16] = "", at[32] = "";

    *lost = (struct later_lost){ .sum = 0 };
    if (!later_key_shard_valid(queue) ||
        sscanf(text, "%15s %" SCNu64 " %" SCNu64 " %31s %255s", name, &lost->before, &lost->after,
               at, lost->host) != 5)
        return false;
    while (lost->sum < LATER_SUMS && strcmp(later_sum_name(lost->sum), name) != 0)
        lost->sum++;
    lost->at = strtod(at, NULL);
    snprintf(lost->queue, sizeof lost->queue, "%s", queue);
    return lost->sum < LATER_SUMS;
}

int64_t later_lost_newest(const struct later_reply *reply, struct later_lost *last)
{
    struct later_lost lost;
    int64_t count = 0;

    *last = (struct later_lost){ .at = 0 };
    for (size_t i = 0; i < later_reply_count(reply) / 2; i++) {
        if (!later_lost_read(reply, i, &lost))
            continue;
        if (count++ == 0 || lost.at >= last->at)
            *last = lost;
    }
    return count;
}

/* --- later:forgotten --- */

void later_forgotten_note(struct later_command *cmd, const char *prefix, const char *queue,
                          double now)
{
    char key[LATER_KEY_MAX];

    later_key_forgotten(key, prefix);
    later_command_say(cmd, "ZADD %s %f %s", key, now, queue);
}

void later_forgotten_bound(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_forgotten(key, prefix);
    later_command_say(cmd, "ZREMRANGEBYRANK %s 0 %d", key, -LATER_FORGOTTEN_MAX - 1);
}

void later_forgotten_keep(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_forgotten(key, prefix);
    later_command_say(cmd, "PEXPIRE %s %ju", key, (uintmax_t)LATER_FORGOTTEN_SECONDS * 1000);
}

void later_forgotten_ask(struct later_command *cmd, const char *prefix, size_t count)
{
    char key[LATER_KEY_MAX];

    later_key_forgotten(key, prefix);
    later_command_open(cmd, count, "ZMSCORE %s", key);
}
