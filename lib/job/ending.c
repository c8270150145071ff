/* ending.c: the table of endings. */
#include "job/ending.h"

#include <stdio.h>
#include <string.h>

const struct later_ending_row later_endings[LATER_ENDINGS] = {
    [LATER_ENDED_HELD] = { "held", LATER_VERB_RETURN, "held", NULL, LATER_OUTCOME_NONE },
    [LATER_ENDED_DONE] = { "done", LATER_VERB_ACK, "done", NULL, LATER_OUTCOME_DONE },
    [LATER_ENDED_RETRY] = { "retry", LATER_VERB_RELEASE, "ran", "retry", LATER_OUTCOME_RETRY },
    [LATER_ENDED_TIMEOUT] = { "timeout", LATER_VERB_RELEASE, "ran", "timeout",
                              LATER_OUTCOME_TIMEOUT },
    [LATER_ENDED_CRASH] = { "crash", LATER_VERB_RELEASE, "crashed", "crash", LATER_OUTCOME_CRASH },
    [LATER_ENDED_PROGRAM] = { "program crash", LATER_VERB_RELEASE, "ran", "crash",
                              LATER_OUTCOME_CRASH },
    [LATER_ENDED_LEFT] = { "left", LATER_VERB_RELEASE, "ran", "crash", LATER_OUTCOME_CRASH },
    [LATER_ENDED_LAPSED] = { "lapse", LATER_VERB_RELEASE, NULL, "lapse", LATER_OUTCOME_NONE },
    [LATER_ENDED_BAD] = { "bad", LATER_VERB_BURY, "unrun", "bad", LATER_OUTCOME_NONE },
    [LATER_ENDED_BURY] = { "bury", LATER_VERB_BURY, "ran", "buried", LATER_OUTCOME_BURY },
    [LATER_ENDED_UNKNOWN] = { "unknown", LATER_VERB_RETURN, "unknown", NULL, LATER_OUTCOME_NONE },
    [LATER_ENDED_UNSERVED] = { "unserved", LATER_VERB_BURY, "unrun", "unknown",
                               LATER_OUTCOME_NONE },
    [LATER_ENDED_RETURNED] = { "return", LATER_VERB_RETURN, "held", "return",
                               LATER_OUTCOME_RETURNED },
    [LATER_ENDED_INTERRUPTED] = { "interrupted", LATER_VERB_RETURN, "interrupted", NULL,
                                  LATER_OUTCOME_INTERRUPTED },
    [LATER_ENDED_SUSPECT] = { "suspect", LATER_VERB_RETURN, "suspect", NULL,
                              LATER_OUTCOME_INTERRUPTED },
    [LATER_ENDED_EXPIRED] = { "expired", LATER_VERB_EXPIRE, NULL, NULL, LATER_OUTCOME_NONE },
    [LATER_ENDED_USED_UP] = { "used up", LATER_VERB_BURY, "unrun", NULL, LATER_OUTCOME_NONE },
    [LATER_ENDED_LINE] = { "line", LATER_VERB_RETURN, "line", NULL, LATER_OUTCOME_NONE },
    [LATER_ENDED_PAUSED] = { "paused", LATER_VERB_RETURN, "type", NULL, LATER_OUTCOME_NONE },
};

static const struct {
    const char *name;
    bool attempt, failed;
} outcomes[LATER_OUTCOMES] = {
    [LATER_OUTCOME_DONE] = { "done", true, false },
    [LATER_OUTCOME_RETRY] = { "retry", true, true },
    [LATER_OUTCOME_BURY] = { "bury", true, true },
    [LATER_OUTCOME_TIMEOUT] = { "timeout", true, true },
    [LATER_OUTCOME_CRASH] = { "crash", true, true },
    [LATER_OUTCOME_INTERRUPTED] = { "interrupted", true, false },
    [LATER_OUTCOME_RETURNED] = { "return", false, false },
};

const char *later_outcome_name(enum later_outcome outcome)
{
    return outcomes[outcome].name;
}

bool later_outcome_is_attempt(enum later_outcome outcome)
{
    return outcome < LATER_OUTCOMES && outcomes[outcome].attempt;
}

bool later_outcome_failed(enum later_outcome outcome)
{
    return outcome < LATER_OUTCOMES && outcomes[outcome].failed;
}

enum later_verb later_ending_verb(enum later_ending ending, bool last)
{
    enum later_verb verb = later_endings[ending].verb;

    return last && verb == LATER_VERB_RELEASE ? LATER_VERB_BURY : verb;
}

enum later_outcome later_ending_counted(enum later_ending ending, bool last)
{
    enum later_outcome counted = later_endings[ending].counted;

    return last && counted == LATER_OUTCOME_RETRY ? LATER_OUTCOME_BURY : counted;
}

/* Has an earlier row the same kind? */
static bool is_repeated(int ending)
{
    for (int i = 0; i < ending; i++) {
        if (later_endings[i].kind && strcmp(later_endings[i].kind, later_endings[ending].kind) == 0)
            return true;
    }
    return false;
}

const char *later_ending_kind(const char *word)
{
    for (int i = 0; i < LATER_ENDINGS; i++) {
        if (later_endings[i].kind && strcmp(later_endings[i].kind, word) == 0)
            return later_endings[i].kind;
    }
    return NULL;
}

void later_ending_kinds(char *text, size_t room)
{
    size_t len = 0;

    text[0] = '\0';
    for (int i = 0; i < LATER_ENDINGS && len < room; i++) {
        if (later_endings[i].kind && !is_repeated(i))
            len += (size_t)snprintf(text + len, room - len, "%s%s", len ? ", " : "",
                                    later_endings[i].kind);
    }
}
