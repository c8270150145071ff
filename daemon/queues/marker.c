/* marker.c: notes in later:marks. */
#include "queues/marker.h"

#include "base/clock.h"
#include "job/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AWAY 10.0 /* seconds more than there are between two answers */

void marker_note(const struct config *config, struct link *link, enum later_note note, double now,
                 const char *words)
{
    struct later_command cmds[LATER_NOTE_COMMANDS];

    if (!config->history || now <= 0)
        return;
    memset(cmds, 0, sizeof cmds);
    later_marks_note(cmds, config->redis.prefix, note, now, words);
    for (int i = 0; i < LATER_NOTE_COMMANDS; i++)
        link_send(link, &cmds[i], LINK_TIMEOUT, NULL, NULL);
}

void marker_beat(struct marker *marker, const struct config *config, struct link *link, double now)
{
    if (marker->started > 0)
        return;
    marker->started = now;
    marker_note(config, link, LATER_NOTE_START, now, VERSION);
}

static void note_since(const struct config *config, struct link *link, enum later_note note,
                       double now, double since)
{
    char words[32];

    snprintf(words, sizeof words, "%.0f", since);
    marker_note(config, link, note, now, words);
}

void marker_answered(struct marker *marker, const struct config *config, struct link *link,
                     double now, double every)
{
    double before = marker->answered, away;

    marker->answered = later_clock();
    away = marker->answered - before;
    if (before > 0 && away >= every + AWAY)
        note_since(config, link, LATER_NOTE_AWAY, now, now - away);
}

double marker_number(const struct later_reply *line, const char *name, double otherwise)
{
    struct later_json_member member = { .name = name };
    struct later_error ignored;
    size_t len;
    const char *text = later_reply_text(line, &len);

    return later_json_scan(text, len, &member, 1, &ignored) == 0 && member.value
               ? later_json_double(member.value)
               : otherwise;
}

/* Only those that were there before us count: of two that start at once, one was first. */
void marker_look(struct marker *marker, const struct config *config, struct link *link, double now,
                 const struct later_reply *hosts, const char *field)
{
    double seen = 0;

    if (marker->looked || marker->started <= 0)
        return;
    marker->looked = true;
    for (size_t i = 0; i + 1 < later_reply_count(hosts); i += 2) {
        const struct later_reply *line = later_reply_at(hosts, i + 1);
        double at = marker_number(line, "seen", 0);

        if (strcmp(later_reply_text(later_reply_at(hosts, i), NULL), field) != 0 && at > seen &&
            marker_number(line, "started", 0) < marker->started)
            seen = at;
    }
    if (marker->started - seen >= LATER_MARKS_GAP)
        note_since(config, link, LATER_NOTE_ALONE, now, seen);
}
