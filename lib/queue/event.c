/* event.c: the ends that a queue tells of. */
#include "queue/event.h"

#include "job/document.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 256 /* bytes of a line besides id and type */

bool later_event_is_told(enum later_verb verb)
{
    return verb != LATER_VERB_RETURN && verb != LATER_VERB_TOUCH;
}

/* What has become of the job. Without a default the compiler warns of a verb that is forgotten. */
static const char *event_state(const struct later_event *event)
{
    switch (later_ending_verb(event->ending, event->last)) {
    case LATER_VERB_ACK:
        return "done";
    case LATER_VERB_EXPIRE:
        return "expired";
    case LATER_VERB_BURY:
        return "dead";
    case LATER_VERB_RELEASE:
    case LATER_VERB_RETURN:
    case LATER_VERB_TOUCH: /* this and the next are no ending's */
    case LATER_VERB_FINISH:
        break;
    }
    return event->wait > 0 ? "delayed" : "ready";
}

/* The members after id and type, and the end of the object. */
static void event_spell(const struct later_event *event, char text[MEMBERS_MAX])
{
    const struct later_ending_row *row = &later_endings[event->ending];
    enum later_outcome counted = later_ending_counted(event->ending, event->last);
    size_t len = (size_t)snprintf(text, MEMBERS_MAX, ",\"ending\":\"%s\",\"state\":\"%s\"",
                                  row->name, event_state(event));

    if (row->kind)
        len += (size_t)snprintf(text + len, MEMBERS_MAX - len, ",\"kind\":\"%s\"", row->kind);
    if (later_outcome_is_attempt(counted))
        len += (size_t)snprintf(text + len, MEMBERS_MAX - len, ",\"attempt\":%" PRIu32,
                                event->attempt);
    if (event->ran > 0)
        len += (size_t)snprintf(text + len, MEMBERS_MAX - len, ",\"ms\":%.3f",
                                fmin(event->ran, 1e9) * 1000);
    if (event->waited >= 0)
        len += (size_t)snprintf(text + len, MEMBERS_MAX - len, ",\"waited\":%.6f",
                                fmin(event->waited, 1e12));
    snprintf(text + len, MEMBERS_MAX - len, "}");
}

/* A type is made of characters that JSON takes as they are. */
void later_event_add(struct later_command *cmd, const struct later_event *event)
{
    char *id = later_document_quote(event->id, strlen(event->id)), *line = NULL;
    const char *quote = *event->type ? "\"" : "";
    char members[MEMBERS_MAX];

    event_spell(event, members);
    if (id && asprintf(&line, "{\"id\":%s,\"type\":%s%s%s%s", id, quote,
                       *event->type ? event->type : "null", quote, members) < 0)
        line = NULL;
    if (line)
        later_command_text(cmd, line);
    else
        cmd->failed = true;
    free(line);
    free(id);
}

void later_events_end(struct later_command *cmd, const char *host, uint32_t kept)
{
    later_command_text(cmd, host);
    later_command_int(cmd, kept);
    later_command_int(cmd, (int64_t)cmd->told);
}

/* --- reading --- */

void later_events_ask(struct later_command *cmd, const struct later_keys *keys, uint64_t after,
                      size_t count)
{
    later_command_say(cmd, "XRANGE %s %ju + COUNT %d", keys->name[LATER_KEY_EVENTS],
                      (uintmax_t)after + 1, (int)count);
}

void later_events_ask_last(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "XREVRANGE %s + - COUNT 1", keys->name[LATER_KEY_EVENTS]);
}

static size_t count_lines(const char *text, size_t len)
{
    size_t lines = 1;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

bool later_event_entry(const struct later_reply *entry, struct later_event_entry *read)
{
    const char *id = later_reply_text(later_reply_at(entry, 0), NULL), *dash = strchr(id, '-');
    const struct later_reply *fields = later_reply_at(entry, 1);
    size_t lines;

    *read = (struct later_event_entry){ .host = "" };
    for (size_t i = 0; i + 1 < later_reply_count(fields); i += 2) {
        const char *name = later_reply_text(later_reply_at(fields, i), NULL);

        if (strcmp(name, "host") == 0)
            read->host = later_reply_text(later_reply_at(fields, i + 1), NULL);
        else if (strcmp(name, "ends") == 0)
            read->ends = later_reply_text(later_reply_at(fields, i + 1), &read->len);
    }
    if (!dash || !read->ends || !read->len)
        return false;
    lines = count_lines(read->ends, read->len);
    read->last = strtoull(id, NULL, 10);
    read->first = read->last - lines + 1;
    read->at = (double)strtoull(dash + 1, NULL, 10) / 1e6;
    return read->last >= lines;
}

const char *later_event_next(const struct later_event_entry *entry, size_t *at, size_t *len)
{
    const char *line = entry->ends + *at, *end;

    if (*at >= entry->len)
        return NULL;
    end = memchr(line, '\n', entry->len - *at);
    *len = end ? (size_t)(end - line) : entry->len - *at;
    *at += *len + 1;
    return line;
}
