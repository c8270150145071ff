/* line.c: encodes and decodes the calls of lines. */
#include "queue/line.h"

#include "base/digest.h"
#include "redis/script.h"

#include <stdio.h>
#include <string.h>

void later_line_named(char name[LATER_LOCK_MAX + 1], const char *base, const char *value)
{
    char whole[400];

    snprintf(whole, sizeof whole, "%s%s", base, value);
    if (strlen(whole) <= LATER_LOCK_MAX)
        strcpy(name, whole);
    else
        later_digest(whole, strlen(whole), name);
}

void later_line_text(char text[LATER_LINE_TEXT], const struct later_line *line)
{
    const char kind = line->what == LATER_LINE_LOCK     ? 'l'
                      : line->what == LATER_LINE_PERMIT ? 'p'
                      : line->sliding                   ? 's'
                                                        : 'f';

    snprintf(text, LATER_LINE_TEXT, "%c %s", kind, line->name);
}

bool later_line_unlimited(const char *text, struct later_line *line)
{
    if (!*text || !strchr(LATER_LINE_KINDS, *text) || text[1] != ' ' ||
        !later_key_name_valid(text + 2))
        return false;
    *line = (struct later_line){ .what = *text == 'l'   ? LATER_LINE_LOCK
                                         : *text == 'p' ? LATER_LINE_PERMIT
                                                        : LATER_LINE_LIMIT,
                                 .sliding = *text == 's',
                                 .name = text + 2 };
    line->max = line->what == LATER_LINE_LOCK ? 1 : line->what == LATER_LINE_PERMIT ? 100 : 1000000;
    line->per = line->what == LATER_LINE_LIMIT ? 1 : 0;
    return true;
}

static void rule(struct later_command *cmd, const struct later_line *line)
{
    later_command_int(cmd, line->max);
    later_command_seconds(cmd, line->per);
    later_command_text(cmd, line->sliding ? "sliding" : "fixed");
}

static void line_begin(struct later_command *cmd, const char *prefix, const struct later_line *line)
{
    char holder[LATER_KEY_MAX], wake[LATER_KEY_MAX], waiting[LATER_KEY_MAX], due[LATER_KEY_MAX];

    later_key_line(waiting, prefix, line->what, line->name, false);
    later_key_line(due, prefix, line->what, line->name, true);
    if (line->what == LATER_LINE_LOCK) {
        later_key_lock(holder, prefix, line->name, LATER_LOCK_ITSELF);
        later_key_lock(wake, prefix, line->name, LATER_LOCK_WAKE);
        LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_LOCK_LINE, NULL, 0, holder, wake, waiting, due);
    } else if (line->what == LATER_LINE_PERMIT) {
        later_key_running(holder, prefix, line->name);
        LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_PERMIT_LINE, NULL, 0, holder, waiting, due);
        later_command_int(cmd, line->max);
    } else {
        later_key_limit(holder, prefix, line->name);
        LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_LIMIT_LINE, NULL, 0, holder, waiting, due);
        rule(cmd, line);
    }
}

void later_line_ask(struct later_command *cmd, const char *prefix, const struct later_line *line,
                    double due, double since, const char *waiter)
{
    line_begin(cmd, prefix, line);
    if (due > 0)
        later_command_seconds(cmd, due);
    else
        later_command_text(cmd, "");
    later_command_seconds(cmd, since);
    later_command_text(cmd, waiter);
}

void later_line_answer(const struct later_reply *reply, struct later_line_answer *answer)
{
    answer->waiting = (size_t)later_reply_int(later_reply_at(reply, 0));
    answer->opens = later_reply_seconds(later_reply_at(reply, 1), 0);
    answer->called = later_reply_count(reply) / 3;
}

void later_line_called(const struct later_reply *reply, size_t i, struct later_called *job)
{
    job->waiter = later_reply_text(later_reply_at(reply, 3 * i + 2), NULL);
    job->due = later_reply_seconds(later_reply_at(reply, 3 * i + 3), 0);
    job->since = later_reply_seconds(later_reply_at(reply, 3 * i + 4), 0);
}

void later_line_hasten(struct later_command *cmd, const struct later_keys *keys,
                       const struct later_called *job, const char *id)
{
    later_script_begin(cmd, LATER_SCRIPT_HASTEN, keys, NULL, 0);
    later_command_seconds(cmd, job->due);
    later_command_seconds(cmd, job->since);
    later_command_text(cmd, id);
}

void later_line_put_off(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_put_off *jobs, size_t count)
{
    later_script_begin(cmd, LATER_SCRIPT_PUT_OFF, keys, NULL, count);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, jobs[i].id);
        later_command_seconds(cmd, jobs[i].due);
        later_command_seconds(cmd, jobs[i].later);
    }
}

/* --- limits --- */

void later_limit_take(struct later_command *cmd, const char *prefix, const struct later_line *line,
                      size_t count)
{
    char limit[LATER_KEY_MAX], waiting[LATER_KEY_MAX], due[LATER_KEY_MAX];

    later_key_limit(limit, prefix, line->name);
    later_key_line(waiting, prefix, LATER_LINE_LIMIT, line->name, false);
    later_key_line(due, prefix, LATER_LINE_LIMIT, line->name, true);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_LIMIT_TAKE, NULL, count, limit, waiting, due);
    rule(cmd, line);
}

bool later_limit_taken(const struct later_reply *reply, size_t n, struct later_limit_answer *answer)
{
    const struct later_reply *said = later_reply_at(reply, 2 + n);
    bool taken = *later_reply_text(said, NULL) != '\0';

    answer->at = taken ? later_reply_seconds(said, 0) : 0;
    answer->waiting = taken ? (size_t)later_reply_int(later_reply_at(reply, 0)) : 0;
    answer->opens = later_reply_seconds(later_reply_at(reply, 1), 0);
    answer->behind = taken ? -1 : later_reply_int(said);
    return taken;
}

void later_limit_free(struct later_command *cmd, const char *prefix, const struct later_line *line,
                      double at)
{
    char limit[LATER_KEY_MAX];

    later_key_limit(limit, prefix, line->name);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_LIMIT_FREE, NULL, 0, limit);
    later_command_text(cmd, line->sliding ? "sliding" : "fixed");
    later_command_seconds(cmd, at);
}

void later_limit_begun(struct later_command *cmd, const char *prefix, const struct later_line *line,
                       double at)
{
    char limit[LATER_KEY_MAX];

    later_key_limit(limit, prefix, line->name);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_LIMIT_BEGUN, NULL, 0, limit);
    later_command_int(cmd, line->max);
    later_command_seconds(cmd, line->per);
    later_command_seconds(cmd, at);
}
