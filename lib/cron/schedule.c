/* schedule.c: a periodic job. */
#include "cron/schedule.h"

#include "cron/instant.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* @schedule choice: static const char *const {name}_words[] = { {quoted}, NULL }; */
static const char *const catch_up_words[] = { "last", "none", "all", NULL };
static const char *const overlap_words[] = { "allow", "skip", "replace", "queue", NULL };
/* @end */

const struct later_schedule_option later_schedule_options[] = {
    /* @schedule option: { "{name}", "{dashed}", LATER_SCHEDULE_{KIND}, {least}, {most}, {preset}, {words_in_c}, offsetof(struct later_schedule, {name}) }, */
    { "at", "at", LATER_SCHEDULE_EXPRESSION, 1, 256, 0, NULL, offsetof(struct later_schedule, at) },
    { "zone", "zone", LATER_SCHEDULE_ZONE, 1, 64, 0, NULL, offsetof(struct later_schedule, zone) },
    { "catch_up", "catch-up", LATER_SCHEDULE_CHOICE, 0, 0, 0, catch_up_words, offsetof(struct later_schedule, catch_up) },
    { "overlap", "overlap", LATER_SCHEDULE_CHOICE, 0, 0, 0, overlap_words, offsetof(struct later_schedule, overlap) },
    { "spread", "spread", LATER_SCHEDULE_SPAN, 0, 31536000, 0, NULL, offsetof(struct later_schedule, spread) },
    { "late", "late", LATER_SCHEDULE_SPAN, 0, 31536000, 60, NULL, offsetof(struct later_schedule, late) },
    { "priority", "priority", LATER_SCHEDULE_RANK, -100, 100, 0, NULL, offsetof(struct later_schedule, priority) },
    { "group", "group", LATER_SCHEDULE_GROUP, 1, 64, 0, NULL, offsetof(struct later_schedule, group) },
    { "expires_in", "expires-in", LATER_SCHEDULE_LIFE, 1, 31536000, 0, NULL, offsetof(struct later_schedule, expires_in) },
    { "from", "from", LATER_SCHEDULE_START, 1e9, 1e11, 0, NULL, offsetof(struct later_schedule, from) },
    { "until", "until", LATER_SCHEDULE_END, 1e9, 1e11, 0, NULL, offsetof(struct later_schedule, until) },
    { "limit", "number", LATER_SCHEDULE_COUNT, 1, 1000000000, 0, NULL, offsetof(struct later_schedule, limit) },
    /* @end */
};
/* clang-format on */

const size_t later_schedule_option_count =
    sizeof later_schedule_options / sizeof *later_schedule_options;

_Static_assert(sizeof(enum later_overlap) == sizeof(unsigned), "a choice is an unsigned");

void later_schedule_put(struct later_schedule *schedule, const struct later_schedule_option *option,
                        int64_t number)
{
    void *at = (char *)schedule + option->in_schedule;

    switch (option->kind) {
    case LATER_SCHEDULE_EXPRESSION:
    case LATER_SCHEDULE_ZONE:
    case LATER_SCHEDULE_GROUP:
        break;
    case LATER_SCHEDULE_CHOICE:
    case LATER_SCHEDULE_COUNT:
        *(uint32_t *)at = (uint32_t)number;
        break;
    case LATER_SCHEDULE_SPAN:
    case LATER_SCHEDULE_RANK:
    case LATER_SCHEDULE_LIFE:
        *(int32_t *)at = (int32_t)number;
        break;
    case LATER_SCHEDULE_START:
    case LATER_SCHEDULE_END:
        *(int64_t *)at = number;
        break;
    }
}

static bool schedule_is_text(const struct later_schedule_option *option)
{
    return option->kind == LATER_SCHEDULE_EXPRESSION || option->kind == LATER_SCHEDULE_ZONE ||
           option->kind == LATER_SCHEDULE_GROUP;
}

static int64_t schedule_number(const struct later_schedule *schedule,
                               const struct later_schedule_option *option)
{
    const void *at = (const char *)schedule + option->in_schedule;

    switch (option->kind) {
    case LATER_SCHEDULE_CHOICE:
    case LATER_SCHEDULE_COUNT:
        return *(const uint32_t *)at;
    case LATER_SCHEDULE_SPAN:
    case LATER_SCHEDULE_RANK:
    case LATER_SCHEDULE_LIFE:
        return *(const int32_t *)at;
    case LATER_SCHEDULE_START:
    case LATER_SCHEDULE_END:
        return *(const int64_t *)at;
    default:
        return option->unsaid;
    }
}

struct later_schedule later_schedule_unsaid(void)
{
    struct later_schedule schedule = { .late = 0 };

    for (size_t i = 0; i < later_schedule_option_count; i++)
        later_schedule_put(&schedule, &later_schedule_options[i], later_schedule_options[i].unsaid);
    return schedule;
}

int later_schedule_word(const struct later_schedule_option *option, const char *word)
{
    for (int i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], word) == 0)
            return i;
    }
    return -1;
}

bool later_schedule_name_valid(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");

    return len > 0 && len <= LATER_SCHEDULE_NAME_MAX && !name[len];
}

const char *later_schedule_zone(const struct later_schedule *schedule)
{
    if (schedule->zone[0])
        return schedule->zone;
    return schedule->expr.zone[0] ? schedule->expr.zone : "UTC";
}

static int schedule_set_text(char *out, size_t room, const char *text, const char *what,
                             struct later_error *err)
{
    if (strlen(text) >= room)
        return later_fail(err, LATER_E_DATA, "%s has more than %zu bytes", what, room - 1);
    strcpy(out, text);
    return 0;
}

static int set_texts(struct later_schedule *schedule, const char *at, const char *zone,
                     struct later_error *err)
{
    if (strpbrk(at, "\r\n"))
        return later_fail(err, LATER_E_DATA, "an expression must be one line");
    if (schedule_set_text(schedule->at, sizeof schedule->at, at, "an expression", err) < 0 ||
        schedule_set_text(schedule->zone, sizeof schedule->zone, zone, "a zone", err) < 0 ||
        later_expression_read(&schedule->expr, at, err) < 0)
        return -1;
    if (zone[0] && schedule->expr.zone[0] && strcmp(zone, schedule->expr.zone) != 0)
        return later_fail(err, LATER_E_DATA,
                          "the zone is given twice: %s, and %s in the expression; give it once",
                          zone, schedule->expr.zone);
    return 0;
}

int later_schedule_set(struct later_schedule *schedule, const char *at, const char *zone,
                       struct later_error *err)
{
    struct later_zone *opened;

    if (set_texts(schedule, at, zone ? zone : "", err) < 0)
        return -1;
    opened = later_zone_open(later_schedule_zone(schedule), err);
    later_zone_free(opened);
    return opened ? 0 : -1;
}

/* --- its bounds --- */

static int schedule_check_bound(double bound, const char *word, const char *what,
                                struct later_error *err)
{
    if (!(bound >= LATER_INSTANT_MIN))
        return later_fail(err, LATER_E_USAGE,
                          "%s: %.40s is before 2001; it is a time, not a duration", what, word);
    if (bound > LATER_INSTANT_MAX)
        return later_fail(err, LATER_E_USAGE, "%s: %.40s is beyond the year 5137; milliseconds?",
                          what, word);
    return 0;
}

/* Takes bounds that were checked; until: the last one as it was given. */
static int schedule_take_bounds(struct later_schedule *schedule, double first, double last,
                                const char *until, struct later_error *err)
{
    schedule->from = (int64_t)ceil(first);
    schedule->until = (int64_t)last;
    if (until && schedule->until < schedule->from)
        return later_fail(err, LATER_E_USAGE, "until: %.40s is before its beginning", until);
    return 0;
}

static int schedule_read_bound(const char *word, const char *what, double *bound,
                               struct later_error *err)
{
    *bound = 0;
    if (!word)
        return 0;
    return later_instant_read(word, what, bound, err) < 0
               ? -1
               : schedule_check_bound(*bound, word, what, err);
}

int later_schedule_bound(struct later_schedule *schedule, const char *from, const char *until,
                         struct later_error *err)
{
    double first, last;

    if (schedule_read_bound(from, "from", &first, err) < 0 ||
        schedule_read_bound(until, "until", &last, err) < 0)
        return -1;
    return schedule_take_bounds(schedule, first, last, until, err);
}

int later_schedule_between(struct later_schedule *schedule, double from, double until,
                           struct later_error *err)
{
    char first[40], last[40];

    snprintf(first, sizeof first, "%.15g", from);
    snprintf(last, sizeof last, "%.15g", until);
    if ((from != 0 && schedule_check_bound(from, first, "from", err) < 0) ||
        (until != 0 && schedule_check_bound(until, last, "until", err) < 0))
        return -1;
    return schedule_take_bounds(schedule, from, until, until != 0 ? last : NULL, err);
}

bool later_schedule_next(const struct later_schedule *schedule, const struct later_zone *zone,
                         int64_t after, int64_t *tick)
{
    if (after < schedule->from - 1)
        after = schedule->from - 1;
    return later_tick_next(&schedule->expr, zone, after, tick) &&
           (schedule->until == 0 || *tick <= schedule->until);
}

/* --- the definition --- */

static void schedule_write_line(FILE *file, const struct later_schedule *schedule,
                                const struct later_schedule_option *option)
{
    const char *text = (const char *)schedule + option->in_schedule;
    int64_t number = schedule_number(schedule, option);

    if (number != option->unsaid && option->words)
        fprintf(file, "%s=%s\n", option->name, option->words[number]);
    else if (number != option->unsaid)
        fprintf(file, "%s=%" PRId64 "\n", option->name, number);
    else if (schedule_is_text(option) && text[0])
        fprintf(file, "%s=%s\n", option->name, text);
}

char *later_schedule_write(const struct later_schedule *schedule, const char *document, size_t size,
                           size_t *len)
{
    char *out = NULL;
    FILE *file = open_memstream(&out, len);

    if (!file)
        return NULL;
    for (size_t i = 0; i < later_schedule_option_count; i++)
        schedule_write_line(file, schedule, &later_schedule_options[i]);
    fputc('\n', file);
    fwrite(document, 1, size, file);
    if (fclose(file) != 0) {
        free(out);
        return NULL;
    }
    return out;
}

char *later_schedule_value(const char *lines, const char *tag, char *out, size_t room)
{
    size_t tag_len = strlen(tag);

    out[0] = '\0';
    while (*lines) {
        size_t len = strcspn(lines, "\n");

        if (len > tag_len && lines[tag_len] == '=' && memcmp(lines, tag, tag_len) == 0) {
            snprintf(out, room, "%.*s", (int)(len - tag_len - 1), lines + tag_len + 1);
            return out;
        }
        lines += len + (lines[len] == '\n');
    }
    return out;
}

/* Reads a number. Of times any is taken: the table's bounds are for those who give one. */
static int64_t schedule_read_number(const char *text, const struct later_schedule_option *option)
{
    bool is_time = option->kind == LATER_SCHEDULE_START || option->kind == LATER_SCHEDULE_END;
    double least = is_time ? 1 : option->least, most = is_time ? LATER_INSTANT_MAX : option->most;
    char *end;
    int64_t number = strtoll(text, &end, 10);

    if (!text[0] || *end || (double)number < least || (double)number > most)
        return option->unsaid;
    return number;
}

static void schedule_read_option(struct later_schedule *schedule,
                                 const struct later_schedule_option *option, const char *lines)
{
    int64_t number;
    char text[32];

    if (option->kind == LATER_SCHEDULE_GROUP)
        later_schedule_value(lines, option->name, (char *)schedule + option->in_schedule,
                             (size_t)option->most + 1);
    later_schedule_value(lines, option->name, text, sizeof text);
    if (!option->words)
        number = schedule_read_number(text, option);
    else if ((number = later_schedule_word(option, text)) < 0)
        number = 0;
    later_schedule_put(schedule, option, number);
}

int later_schedule_read(struct later_schedule *schedule, const char *lines, struct later_error *err)
{
    char at[LATER_EXPRESSION_MAX + 2], zone[LATER_ZONE_MAX + 2];

    *schedule = (struct later_schedule){ .late = 0 };
    for (size_t i = 0; i < later_schedule_option_count; i++)
        schedule_read_option(schedule, &later_schedule_options[i], lines);
    return set_texts(schedule, later_schedule_value(lines, "at", at, sizeof at),
                     later_schedule_value(lines, "zone", zone, sizeof zone), err);
}

/* --- a tick --- */

/* Returns a number for a schedule and a tick, the same on every host: 64-bit FNV-1a (Fowler, Noll,
 * Vo). */
static uint64_t schedule_hash(const char *name, int64_t tick)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    char text[32];

    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * UINT64_C(1099511628211);
    snprintf(text, sizeof text, ":%" PRId64, tick);
    for (const char *c = text; *c; c++)
        sum = (sum ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return sum ^ sum >> 32;
}

/* Returns the delay of a tick's job, which ends before the next tick. */
static int32_t delay_of(const struct later_schedule *schedule, const char *name,
                        const struct later_firing *firing)
{
    int64_t most = schedule->spread;

    if (firing->more && firing->next - firing->tick < most)
        most = firing->next - firing->tick;
    return most > 0 ? (int32_t)(schedule_hash(name, firing->tick) % (uint64_t)most) : 0;
}

/* Finds the first tick after `from` that is not missed by the policy. It may be in the future.
 * until: the last instant that counts of those that have come. */
static bool first_wanted(const struct later_schedule *schedule, const struct later_zone *zone,
                         int64_t from, int64_t until, int64_t now, int64_t *first)
{
    if (schedule->catch_up == LATER_CATCH_UP_LAST &&
        later_tick_last(&schedule->expr, zone, from, until, first))
        return true;
    if (schedule->catch_up == LATER_CATCH_UP_NONE && from < now - schedule->late - 1)
        from = now - schedule->late - 1;
    if (schedule->catch_up == LATER_CATCH_UP_ALL) {
        if (from < now - LATER_SCHEDULE_WINDOW)
            from = now - LATER_SCHEDULE_WINDOW;
        from = later_tick_after(&schedule->expr, zone, from, until, LATER_SCHEDULE_ALL_MAX);
    }
    return later_schedule_next(schedule, zone, from, first);
}

/* A tick may have come, and then its definition got bounds that leave it out: it is not missed, but
 * was never one. */
void later_schedule_fire(const struct later_schedule *schedule, const struct later_zone *zone,
                         const char *name, int64_t due, int64_t now, struct later_firing *firing)
{
    int64_t from = due < schedule->from ? schedule->from : due, first = due;
    int64_t until = schedule->until > 0 && schedule->until < now ? schedule->until : now;

    *firing = (struct later_firing){ .more = true };
    if (now - due > schedule->late || from > due || until < due)
        firing->more = first_wanted(schedule, zone, from - 1, until, now, &first);
    if (!firing->more || first > from)
        firing->missed = later_tick_count(&schedule->expr, zone, from - 1,
                                          firing->more && first <= until ? first - 1 : until,
                                          LATER_SCHEDULE_MISSED);
    firing->push = firing->more && first <= now;
    firing->tick = first;
    firing->next = first;
    if (!firing->push)
        return;
    firing->more = later_schedule_next(schedule, zone, first, &firing->next);
    firing->delay = delay_of(schedule, name, firing);
}

void later_schedule_answer(const struct later_schedule *schedule, const struct later_zone *zone,
                           const char *name, int64_t asked, int64_t now,
                           struct later_firing *firing)
{
    int64_t first;

    *firing = (struct later_firing){ 0 };
    if (!later_schedule_next(schedule, zone, asked - 1, &first))
        return;
    if (first <= now) {
        later_schedule_fire(schedule, zone, name, first, now, firing);
    } else {
        firing->more = true;
        firing->next = first;
    }
}
