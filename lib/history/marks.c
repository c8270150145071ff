/* marks.c: what happened besides jobs. */
#include "history/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 600.0 /* seconds: starts and reloads of a fleet, one after the other */

/* each: what laterds do is told once in so many seconds, what people do each time. last: the last
 * of them counts, not the first. */
static const struct {
    const char *name;
    double each;
    bool last;
} notes[LATER_NOTES] = {
    [LATER_NOTE_START] = { "start", 60, false },     [LATER_NOTE_STOP] = { "stop", 60, true },
    [LATER_NOTE_RELOAD] = { "reload", 60, false },   [LATER_NOTE_ALONE] = { "alone", 60, false },
    [LATER_NOTE_AWAY] = { "away", 60, true },        [LATER_NOTE_PAUSE] = { "pause", 0.001, true },
    [LATER_NOTE_RESUME] = { "resume", 0.001, true }, [LATER_NOTE_SET] = { "set", 0.001, true },
    [LATER_NOTE_UNSET] = { "unset", 0.001, true },
};

static const struct {
    const char *name, *words;
} whats[LATER_MARKS] = {
    [LATER_MARK_START] = { "start", "laterd started" },
    [LATER_MARK_DEPLOY] = { "deploy", "another version of laterd started" },
    [LATER_MARK_RELOAD] = { "reload", "laterd loaded its configuration again" },
    [LATER_MARK_DOWN] = { "down", "no laterd was alive" },
    [LATER_MARK_AWAY] = { "away", "a laterd had no answer from Redis" },
    [LATER_MARK_PAUSE] = { "pause", "paused" },
    [LATER_MARK_SET] = { "set", "other numbers than configured" },
};

const char *later_mark_name(enum later_mark_what what)
{
    return whats[what].name;
}

const char *later_mark_words(enum later_mark_what what)
{
    return whats[what].words;
}

/* --- writing --- */

void later_marks_note(struct later_command cmds[LATER_NOTE_COMMANDS], const char *prefix,
                      enum later_note note, double at, const char *words)
{
    char key[LATER_KEY_MAX], text[LATER_MARKS_NOTE];

    later_key_marks(key, prefix);
    snprintf(text, sizeof text, "%s %.0f %s", notes[note].name, at / notes[note].each, words);
    later_command_say(&cmds[0], notes[note].last ? "ZADD %s %f %s" : "ZADD %s NX %f %s", key, at,
                      text);
    later_command_say(&cmds[1], "ZREMRANGEBYRANK %s 0 %d", key, -LATER_MARKS_MAX - 1);
    later_command_say(&cmds[2], "PEXPIRE %s %ju", key, (uintmax_t)LATER_MARKS_SECONDS * 1000);
}

/* --- reading --- */

struct marks_reading {
    struct later_mark *marks;
    size_t count;
    double now, stopped; /* when the last one stopped; 0: not known */
    char version[LATER_QUEUE_MAX + 1];
};

/* Returns the last mark of this kind, of this queue and type, or NULL. */
static struct later_mark *marks_last(struct marks_reading *reading, enum later_mark_what what,
                                     const char *queue, const char *type)
{
    for (size_t i = reading->count; i-- > 0;) {
        struct later_mark *mark = &reading->marks[i];

        if (mark->what == what && strcmp(mark->queue, queue) == 0 && strcmp(mark->type, type) == 0)
            return mark;
    }
    return NULL;
}

static struct later_mark *marks_add(struct marks_reading *reading, enum later_mark_what what,
                                    double from, double to)
{
    struct later_mark *mark = &reading->marks[reading->count++];

    *mark = (struct later_mark){ .what = what, .from = from, .to = to };
    return mark;
}

/* Is there one of this kind so short a time before that both are of the same deed? Then it lasts,
 * so that a fleet that takes an hour is one mark. */
static bool marks_goes_on(struct marks_reading *reading, enum later_mark_what what, double at)
{
    struct later_mark *before = marks_last(reading, what, "", "");

    if (!before || at - before->to > TOGETHER)
        return false;
    before->to = at;
    return true;
}

static void marks_started(struct marks_reading *reading, double at, const char *version)
{
    bool other = *reading->version && strcmp(reading->version, version) != 0;
    enum later_mark_what what = other ? LATER_MARK_DEPLOY : LATER_MARK_START;

    snprintf(reading->version, sizeof reading->version, "%.*s", LATER_QUEUE_MAX, version);
    if (!other && (marks_goes_on(reading, LATER_MARK_DEPLOY, at) ||
                   marks_goes_on(reading, LATER_MARK_START, at)))
        return;
    strcpy(marks_add(reading, what, at, at)->version, reading->version);
}

static void marks_alone(struct marks_reading *reading, double at, double seen)
{
    double from = seen > reading->stopped ? seen : reading->stopped;

    if (from > 0 && at - from >= LATER_MARKS_GAP)
        marks_add(reading, LATER_MARK_DOWN, from, at);
}

/* Several laterds tell of the same time. */
static void marks_away(struct marks_reading *reading, double at, double from)
{
    struct later_mark *before = marks_last(reading, LATER_MARK_AWAY, "", "");

    if (from <= 0 || from > at)
        return;
    if (before && from <= before->to) {
        before->from = from < before->from ? from : before->from;
        before->to = at;
    } else {
        marks_add(reading, LATER_MARK_AWAY, from, at);
    }
}

/* Cuts a word off the rest, which is returned: "" if there is none. */
static char *marks_cut(char *words)
{
    char *space = strchr(words, ' ');

    if (!space)
        return words + strlen(words);
    *space = '\0';
    return space + 1;
}

/* until: UNIX time, 0 or less: it is not known. */
static void marks_lasts(const struct marks_reading *reading, struct later_mark *mark, double until)
{
    mark->open = until <= 0 || until > reading->now;
    mark->to = mark->open ? reading->now : until;
}

static void marks_end(struct later_mark *mark, double at)
{
    if (!mark || (!mark->open && mark->to <= at))
        return;
    mark->to = at;
    mark->open = false;
}

/* words: `QUEUE UNTIL TYPE`, or without a type. A pause that is made longer goes on. */
static void marks_paused(struct marks_reading *reading, double at, char *words)
{
    char *time = marks_cut(words), *type = marks_cut(time);
    struct later_mark *mark;

    if (!later_key_queue_valid(words) && !later_key_shard_valid(words))
        return;
    mark = marks_last(reading, LATER_MARK_PAUSE, words, type);
    if (!mark || (!mark->open && mark->to < at))
        mark = marks_add(reading, LATER_MARK_PAUSE, at, at);
    marks_lasts(reading, mark, strtod(time, NULL));
    snprintf(mark->queue, sizeof mark->queue, "%s", words);
    snprintf(mark->type, sizeof mark->type, "%s", type);
}

/* words: `QUEUE TYPE`, or without a type. */
static void marks_resumed(struct marks_reading *reading, double at, char *words)
{
    char *type = marks_cut(words);

    marks_end(marks_last(reading, LATER_MARK_PAUSE, words, type), at);
}

static void marks_unset(struct marks_reading *reading, double at, const char *name)
{
    for (size_t i = reading->count; i-- > 0;) {
        struct later_mark *mark = &reading->marks[i];

        if (mark->what == LATER_MARK_SET && strcmp(mark->set, name) == 0) {
            marks_end(mark, at);
            return;
        }
    }
}

/* words: `UNTIL NAME`. Other numbers end those before. */
static void marks_set(struct marks_reading *reading, double at, char *words)
{
    const char *name = marks_cut(words);
    struct later_mark *mark;

    if (!*name)
        return;
    marks_unset(reading, at, name);
    mark = marks_add(reading, LATER_MARK_SET, at, at);
    marks_lasts(reading, mark, strtod(words, NULL));
    snprintf(mark->set, sizeof mark->set, "%s", name);
}

static void marks_take(struct marks_reading *reading, double at, char *text)
{
    char *number = strchr(text, ' '), *words = number ? strchr(number + 1, ' ') : NULL;
    enum later_note note = 0;

    if (!words)
        return;
    *number = '\0';
    words++;
    while (note < LATER_NOTES && strcmp(notes[note].name, text) != 0)
        note++;
    if (note == LATER_NOTE_START)
        marks_started(reading, at, words);
    else if (note == LATER_NOTE_STOP)
        reading->stopped = at;
    else if (note == LATER_NOTE_RELOAD && !marks_goes_on(reading, LATER_MARK_RELOAD, at))
        marks_add(reading, LATER_MARK_RELOAD, at, at);
    else if (note == LATER_NOTE_ALONE)
        marks_alone(reading, at, strtod(words, NULL));
    else if (note == LATER_NOTE_AWAY)
        marks_away(reading, at, strtod(words, NULL));
    else if (note == LATER_NOTE_PAUSE)
        marks_paused(reading, at, words);
    else if (note == LATER_NOTE_RESUME)
        marks_resumed(reading, at, words);
    else if (note == LATER_NOTE_SET)
        marks_set(reading, at, words);
    else if (note == LATER_NOTE_UNSET)
        marks_unset(reading, at, words);
}

static int marks_by_beginning(const void *a, const void *b)
{
    const struct later_mark *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

void later_marks_ask(struct later_command *cmd, const char *prefix)
{
    char key[LATER_KEY_MAX];

    later_key_marks(key, prefix);
    later_command_say(cmd, "ZRANGE %s %d %d WITHSCORES", key, -LATER_MARKS_MAX, -1);
}

size_t later_marks_read(struct later_mark marks[LATER_MARKS_MAX], const struct later_reply *reply,
                        double now)
{
    struct marks_reading reading = { .marks = marks, .now = now };

    for (size_t i = 1; i < later_reply_count(reply) && i < 2 * LATER_MARKS_MAX; i += 2) {
        char text[LATER_MARKS_NOTE];

        snprintf(text, sizeof text, "%s", later_reply_text(later_reply_at(reply, i - 1), NULL));
        marks_take(&reading, later_reply_seconds(later_reply_at(reply, i), 0), text);
    }
    qsort(marks, reading.count, sizeof *marks, marks_by_beginning);
    return reading.count;
}
