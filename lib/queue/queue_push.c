/* queue_push.c: encodes pushes, and decodes their answers. */
#include "queue/queue.h"

#include "job/document.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CALL_KEPT 60 /* seconds */

static void add_when(struct later_command *cmd, const struct later_push_item *item)
{
    double in = item->debounce > 0 ? item->debounce : item->in;
    char text[3 * LATER_SECONDS_SIZE + 3];
    size_t len = 0;

    if (item->at > 0) {
        len = later_seconds_spell(text, item->at);
    } else if (in != 0) {
        text[len++] = '+';
        len += later_seconds_spell(text + len, in);
        if (item->max_wait > 0) {
            text[len++] = '/';
            len += later_seconds_spell(text + len, item->max_wait);
        }
    }
    if (item->expires_in > 0) {
        text[len++] = '!';
        len += later_seconds_spell(text + len, item->expires_in);
    }
    later_command_bytes(cmd, text, len);
}

/* For how long an id stays taken follows the priority, and then the group, so that most jobs, which
 * ask for neither, cost nothing more. */
void later_queue_add_priority(struct later_command *cmd, const struct later_push_item *item)
{
    double taken = item->throttle > 0 ? item->throttle : item->unique_for;
    bool grouped = item->group[0] != '\0';
    char text[16 + LATER_SECONDS_SIZE + LATER_GROUP_MAX + 2];
    size_t len;

    if (!(taken > 0) && !grouped) {
        later_command_int(cmd, item->priority);
        return;
    }
    len = (size_t)snprintf(text, sizeof text, "%d", (int)item->priority);
    if (taken > 0) {
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "/%s", item->throttle > 0 ? "+" : "");
        len += later_seconds_spell(text + len, taken);
    }
    if (grouped)
        len += (size_t)snprintf(text + len, sizeof text - len, "@%s", item->group);
    later_command_bytes(cmd, text, len);
}

unsigned later_queue_flags(const struct later_push_item *item)
{
    if (item->again || item->debounce > 0)
        return LATER_PUSH_AGAIN;
    return item->replace ? LATER_PUSH_REPLACE : 0;
}

void later_queue_push(struct later_command *cmd, const struct later_keys *keys, const char *call,
                      unsigned flags, uint64_t epoch, const struct later_push_item *items,
                      size_t count)
{
    static const char *const modes[] = { "new",   "replace", "seek",       "seek-replace",
                                         "again", "again",   "seek-again", "seek-again" };
    char key[LATER_KEY_MAX], mode[40];

    later_key_call(key, keys, call ? call : "");
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_PUSH, keys, count, key);
    later_command_int(cmd, call ? CALL_KEPT : 0);
    snprintf(mode, sizeof mode, "%s/%" PRIu64, modes[flags & 7], epoch);
    later_command_text(cmd, mode);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, items[i].id);
        add_when(cmd, &items[i]);
        later_queue_add_priority(cmd, &items[i]);
        later_command_bytes(cmd, items[i].document, items[i].document_len);
    }
}

bool later_queue_plain(const struct later_push_item *item)
{
    return later_queue_flags(item) == 0 && item->priority == 0 && item->in == 0 && item->at == 0 &&
           item->throttle == 0 && item->unique_for == 0 && item->expires_in == 0 && !item->group[0];
}

void later_queue_push_now(struct later_command *cmd, const struct later_keys *keys, const char *set,
                          const char *number, uint64_t epoch, const struct later_push_item *item)
{
    char key[LATER_KEY_MAX];

    later_key_call(key, keys, set);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_PUSH_NOW, keys, 0, key);
    later_command_int(cmd, (int64_t)epoch);
    later_command_text(cmd, item->id);
    later_command_bytes(cmd, item->document, item->document_len);
    later_command_text(cmd, number);
}

bool later_queue_asks(const struct later_reply *reply)
{
    return strcmp(later_reply_text(reply, NULL), "ASK") == 0;
}

int later_queue_pushed(const struct later_reply *reply, size_t i, const char **state)
{
    static const struct {
        const char *word;
        int how;
    } words[] = { { "PUSHED", LATER_IS_PUSHED },
                  { "REPLACED", LATER_IS_REPLACED },
                  { "AGAIN", LATER_IS_AGAIN },
                  { "ABSENT", LATER_IS_ABSENT },
                  { "FULL", LATER_IS_FULL } };
    /* The answer of push_now is not a list. */
    const struct later_reply *answer = later_reply_count(reply) ? later_reply_at(reply, i) : reply;
    const char *text = later_reply_text(answer, NULL);
    bool exists = strncmp(text, "EXISTS ", 7) == 0;

    if (state)
        *state = exists ? text + 7 : "";
    if (exists)
        return LATER_IS_KNOWN;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (strcmp(text, words[w].word) == 0)
            return words[w].how;
    }
    return LATER_IS_STRANGE;
}

int later_queue_refused(int how, const char *queue, struct later_error *err)
{
    if (how == LATER_IS_STRANGE)
        return later_fail(err, LATER_E_BUG, "queue %s: no answer to a push", queue);
    if (how != LATER_IS_FULL)
        return 0;
    return later_fail(err, LATER_E_LATER,
                      "queue %s is full: it has as many jobs as queues.max_jobs of laterd allows",
                      queue);
}
