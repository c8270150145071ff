/* option.c: the options of a job. */
#include "job/option.h"

#include "base/spell.h"
#include "cron/instant.h"

#include <string.h>

#define JOB(member) offsetof(struct later_new_job, member)

/* clang-format off */
const struct later_option later_options[] = {
    /* @options document: { "{name}", "{dashed}", LATER_OPTION_{KIND}, true, {least}, {most}, JOB({name}) }, */
    { "id", "id", LATER_OPTION_WORD, true, 1, 200, JOB(id) },
    { "priority", "priority", LATER_OPTION_WHOLE, true, -100, 100, JOB(priority) },
    { "max_attempts", "max-attempts", LATER_OPTION_COUNT, true, 1, 1000000, JOB(max_attempts) },
    { "retry_for", "retry-for", LATER_OPTION_SPAN, true, 0, 315360000, JOB(retry_for) },
    { "timeout", "timeout", LATER_OPTION_SPAN, true, 0, 604800, JOB(timeout) },
    { "backoff", "backoff", LATER_OPTION_WAITS, true, 0, 1e300, JOB(backoff) },
    { "expires_at", "expires-at", LATER_OPTION_TIME, true, 1e9, 1e300, JOB(expires_at) },
    { "result", "result", LATER_OPTION_SPAN, true, 0, 315360000, JOB(result) },
    { "lock", "lock", LATER_OPTION_NAME, true, 1, 200, JOB(lock) },
    { "group", "group", LATER_OPTION_NAME, true, 1, 64, JOB(group) },
    { "trace", "trace", LATER_OPTION_TEXT, true, 0, 256, JOB(trace) },
    { "description", "description", LATER_OPTION_TEXT, true, 0, 200, JOB(description) },
    { "on_dead", "on-dead", LATER_OPTION_HOOK, true, 1, 193, JOB(on_dead) },
    { "on_done", "on-done", LATER_OPTION_HOOK, true, 1, 193, JOB(on_done) },
    { "flow", "flow", LATER_OPTION_LABEL, true, 1, 64, JOB(flow) },
    { "step", "step", LATER_OPTION_LABEL, true, 1, 64, JOB(step) },
    { "after", "after", LATER_OPTION_STEPS, true, 1, 100, JOB(after) },
    { "when", "when", LATER_OPTION_FATE, true, 1, 6, JOB(when) },
    /* @end */
    /* @options line,item,tie: { "{name}", "{dashed}", LATER_OPTION_{KIND}, false, {least}, {most}, JOB({name}) }, */
    { "in", "in", LATER_OPTION_SECONDS, false, 0, 315360000, JOB(in) },
    { "at", "at", LATER_OPTION_TIME, false, 1e9, 1e11, JOB(at) },
    { "expires_in", "expires-in", LATER_OPTION_SPAN, false, 0, 315360000, JOB(expires_in) },
    { "adder", "adder", LATER_OPTION_WORD, false, 1, 200, JOB(adder) },
    { "home", "home", LATER_OPTION_LABEL, false, 1, 64, JOB(home) },
    { "unique_for", "unique-for", LATER_OPTION_SECONDS, false, 0, 1000000000, JOB(unique_for) },
    { "replace", "replace", LATER_OPTION_FLAG, false, 0, 1, JOB(replace) },
    { "again", "again", LATER_OPTION_FLAG, false, 0, 1, JOB(again) },
    { "debounce", "debounce", LATER_OPTION_SECONDS, false, 0, 315360000, JOB(debounce) },
    { "max_wait", "max-wait", LATER_OPTION_SPAN, false, 0, 315360000, JOB(max_wait) },
    { "throttle", "throttle", LATER_OPTION_SPAN, false, 0, 1000000000, JOB(throttle) },
    /* @end */
};
/* clang-format on */

const size_t later_option_count = sizeof later_options / sizeof *later_options;

const struct later_option *later_option_find(const char *word)
{
    for (size_t i = 0; i < later_option_count; i++) {
        if (strcmp(later_options[i].word, word) == 0)
            return &later_options[i];
    }
    return NULL;
}

int later_option_check_time(const char *name, double at, double most, struct later_error *err)
{
    if (at >= LATER_INSTANT_MIN && at < most)
        return 0;
    if (at >= most)
        return later_fail(err, LATER_E_DATA,
                          "%s: %.15g is not a plausible UNIX time: milliseconds?", name, at);
    /* at, expires_at; in, expires_in */
    return later_fail(err, LATER_E_DATA,
                      "%s: %.15g is not a plausible UNIX time; for a duration use %.*sin", name, at,
                      (int)strlen(name) - 2, name);
}

int later_option_check(const struct later_option *option, double number, struct later_error *err)
{
    if (number == 0)
        return 0;
    if (option->kind == LATER_OPTION_TIME)
        return later_option_check_time(option->name, number, option->most, err);
    if (number >= option->least && number <= option->most)
        return 0;
    return later_fail(err, LATER_E_DATA, "%s: %.0f to %.0f seconds", option->name, option->least,
                      option->most);
}

void later_option_take(struct later_push_item *item, const struct later_new_job *job)
{
    item->id = job->id;
    item->priority = job->priority;
    later_spell_text(item->group, sizeof item->group, job->group ? job->group : "");
    item->has_expires_at = job->expires_at != 0;
    /* @options line,item: item->{name} = job->{name}; */
    item->in = job->in;
    item->at = job->at;
    item->expires_in = job->expires_in;
    item->unique_for = job->unique_for;
    item->replace = job->replace;
    item->again = job->again;
    item->debounce = job->debounce;
    item->max_wait = job->max_wait;
    item->throttle = job->throttle;
    /* @end */
}
