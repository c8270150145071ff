/*
 * marks.h: what happened besides jobs, so that a curve can be read: `later:marks` (doc/protocol.md,
 * "Marks"). Encoders and a decoder like queue.h.
 *
 * Notes are written when a laterd starts, stops, reloads or has been without Redis, and when
 * somebody pauses or resumes a queue, or sets numbers of a limit: never for a job. A reader makes
 * marks of them: a note of a pause and one of a resume are one mark, and so are the starts of many
 * hosts.
 *
 *     struct later_command cmds[LATER_NOTE_COMMANDS] = { 0 };
 *     later_marks_note(cmds, prefix, LATER_NOTE_START, now, VERSION);      … send each …
 *
 *     count = later_marks_read(marks, later_reply, now);
 */
#ifndef LATER_MARKS_H
#define LATER_MARKS_H

#include "job/document.h"
#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stddef.h>

#define LATER_MARKS_MAX 1000 /* notes; the oldest go */
#define LATER_MARKS_SECONDS                                                                        \
    7776000                   /* 90 days after the last one; the coarsest scale of history.h */
#define LATER_MARKS_NOTE 256  /* bytes of a note, with its NUL */
#define LATER_MARKS_GAP  30.0 /* seconds without a laterd that are an outage */

/* --- writing --- */

enum later_note {
    LATER_NOTE_START,  /* words: the version */
    LATER_NOTE_STOP,   /* none */
    LATER_NOTE_RELOAD, /* none */
    LATER_NOTE_ALONE,  /* no other laterd was alive when this one began; words: the UNIX time at
                        * which the last of them was seen, or 0 */
    LATER_NOTE_AWAY,   /* a laterd had no answer from Redis; words: since when, UNIX time */
    LATER_NOTE_PAUSE,  /* words: the queue, and until when, UNIX time, or 0; of a type: and that */
    LATER_NOTE_RESUME, /* words: the queue; of a type: and that */
    LATER_NOTE_SET,    /* words: until when, UNIX time, or 0, and the name of the override */
    LATER_NOTE_UNSET,  /* words: its name */
    LATER_NOTES
};

#define LATER_NOTE_COMMANDS 3 /* ZADD, ZREMRANGEBYRANK, PEXPIRE */

/* Encode a note of this moment (UNIX seconds, Redis's clock), and the bounds. The same note of many
 * laterds in a minute is one. */
void later_marks_note(struct later_command cmds[LATER_NOTE_COMMANDS], const char *prefix,
                      enum later_note note, double at, const char *words);

/* --- reading --- */

enum later_mark_what {
    LATER_MARK_START,  /* a laterd of the version that was there before; again after a quiet time */
    LATER_MARK_DEPLOY, /* the first of another version */
    LATER_MARK_RELOAD,
    LATER_MARK_DOWN, /* no laterd was alive */
    LATER_MARK_AWAY, /* one had no answer from Redis */
    LATER_MARK_PAUSE,
    LATER_MARK_SET, /* numbers of a limit or of max_running; each change is one */
    LATER_MARKS
};

struct later_mark {
    enum later_mark_what what;
    double from, to;                   /* UNIX seconds; to = from: a moment */
    bool open;                         /* it goes on; to = now */
    char queue[LATER_QUEUE_MAX + 1];   /* of a pause; else "" */
    char type[LATER_TYPE_MAX + 1];     /* of the pause of a type; else "" */
    char version[LATER_QUEUE_MAX + 1]; /* of a start or deploy; else "" */
    char set[LATER_MARKS_NOTE];        /* whose numbers are set, as in `overrides`; else "" */
};

/* "start" …, the word in JSON; and what it means, for people. Static. */
const char *later_mark_name(enum later_mark_what what);
const char *later_mark_words(enum later_mark_what what);

/* Encodes the question for all notes. */
void later_marks_ask(struct later_command *cmd, const char *prefix);

/* Makes marks of its answer, in the order in which they began; notes that are not known are
 * skipped. now: by Redis's clock. Returns how many there are. */
size_t later_marks_read(struct later_mark marks[LATER_MARKS_MAX], const struct later_reply *reply,
                        double now);

#endif
