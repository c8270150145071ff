/* history.c: a queue's past in Redis. */
#include "history/history.h"

#include "redis/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLD_MAX 64 /* fields in one call */

const struct later_scale_row later_scales[LATER_SCALES] = {
    [LATER_BY_MINUTE] = { "minute", 60, 8 * 3600 },
    [LATER_BY_TEN] = { "ten", 600, 7 * 86400 },
    [LATER_BY_HOUR] = { "hour", 3600, 90 * 86400 },
};

enum later_scale later_scale_for(double seconds)
{
    int scale = LATER_BY_MINUTE;

    while (scale < LATER_BY_HOUR && seconds > later_scales[scale].keep)
        scale++;
    return (enum later_scale)scale;
}

int64_t later_period(enum later_scale scale, double at)
{
    return (int64_t)floor(at / later_scales[scale].seconds);
}

void later_history_besides(struct later_keys *keys, const char *prefix)
{
    char key[LATER_KEY_MAX];

    memset(keys, 0, sizeof *keys);
    keys->len[LATER_KEY_TOTALS] = later_key_totals(key, prefix);
    memcpy(keys->name[LATER_KEY_TOTALS], key, keys->len[LATER_KEY_TOTALS] + 1);
}

/* --- reading --- */

static void history_ask(struct later_command *cmd, const char *key)
{
    later_command_say(cmd, "HGETALL %s", key);
}

void later_history_ask(struct later_command *cmd, const struct later_keys *keys,
                       enum later_scale scale, int64_t period)
{
    char key[LATER_KEY_MAX];

    later_key_period(key, keys, later_scales[scale].name, period);
    history_ask(cmd, key);
}

void later_history_ask_totals(struct later_command *cmd, const struct later_keys *keys)
{
    history_ask(cmd, keys->name[LATER_KEY_TOTALS]);
}

void later_history_read(struct later_tallies *tallies, const struct later_reply *reply)
{
    for (size_t i = 1; i < later_reply_count(reply); i += 2) {
        size_t len;
        const char *packed = later_reply_text(later_reply_at(reply, i), &len);

        later_tallies_unpack(tallies, packed, len);
    }
}

/* --- writing --- */

static void history_note(struct later_command *cmd, const char *key, const char *field, double keep,
                         bool known, const char *packed, size_t len, size_t gone)
{
    later_script_begin(cmd, LATER_SCRIPT_NOTE, NULL, &key, gone);
    later_command_text(cmd, field);
    later_command_bytes(cmd, packed, len);
    later_command_int(cmd, (int64_t)(keep * 1000));
    later_command_int(cmd, known);
}

/* `keep` counts from the end of a period; this returns the seconds from its beginning. */
static double keep_of(enum later_scale scale)
{
    return (double)later_scales[scale].keep + later_scales[scale].seconds;
}

void later_history_note(struct later_command *cmd, const struct later_keys *keys,
                        enum later_scale scale, int64_t period, const char *field,
                        const char *packed, size_t len)
{
    char key[LATER_KEY_MAX];

    later_key_period(key, keys, later_scales[scale].name, period);
    history_note(cmd, key, field, keep_of(scale), false, packed, len, 0);
}

void later_history_note_total(struct later_command *cmd, const struct later_keys *keys,
                              const char *field, bool known, const char *packed, size_t len)
{
    history_note(cmd, keys->name[LATER_KEY_TOTALS], field, 0, known, packed, len, 0);
}

bool later_history_noted(const struct later_reply *reply)
{
    return later_reply_int(reply) == 1;
}

/* --- folding --- */

/* What is to be merged: indices of fields in the reply, and their sum. */
struct fold {
    size_t at[FOLD_MAX], count;
    struct later_tallies sum;
};

static void history_choose(struct fold *fold, const struct later_reply *reply,
                           bool (*gone)(void *arg, const char *field), void *arg)
{
    for (size_t i = 0; i + 1 < later_reply_count(reply) && fold->count < FOLD_MAX; i += 2) {
        const char *field = later_reply_text(later_reply_at(reply, i), NULL);
        size_t len;
        const char *packed = later_reply_text(later_reply_at(reply, i + 1), &len);

        if ((strcmp(field, LATER_FOLDED) == 0 || gone(arg, field)) &&
            later_tallies_unpack(&fold->sum, packed, len))
            fold->at[fold->count++] = i;
    }
}

static void history_add_bytes(struct later_command *cmd, const struct later_reply *string)
{
    size_t len;
    const char *bytes = later_reply_text(string, &len);

    later_command_bytes(cmd, bytes, len);
}

size_t later_history_fold(struct later_command *cmd, const struct later_keys *keys,
                          enum later_scale scale, int64_t period, double now,
                          const struct later_reply *reply,
                          bool (*gone)(void *arg, const char *field), void *arg)
{
    struct fold fold = { .count = 0 };
    char key[LATER_KEY_MAX], *packed;
    size_t len;
    double keep = 0;

    history_choose(&fold, reply, gone, arg);
    packed = fold.count > 1 ? later_tallies_pack(&fold.sum, &len) : NULL;
    later_tallies_free(&fold.sum);
    if (!packed)
        return 0;
    if (period >= 0) {
        keep = fmax(
            (double)(period + 1) * later_scales[scale].seconds + later_scales[scale].keep - now, 1);
        later_key_period(key, keys, later_scales[scale].name, period);
    }
    history_note(cmd, period >= 0 ? key : keys->name[LATER_KEY_TOTALS], LATER_FOLDED, keep, false,
                 packed, len, fold.count);
    for (size_t i = 0; i < fold.count; i++) {
        history_add_bytes(cmd, later_reply_at(reply, fold.at[i]));
        history_add_bytes(cmd, later_reply_at(reply, fold.at[i] + 1));
    }
    free(packed);
    return fold.count;
}
