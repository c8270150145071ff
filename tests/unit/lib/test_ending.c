/* test_ending.c: the table of endings: each row is whole, and the manuals say the same. */
#include "job/ending.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* Reads a file of the source tree, which the caller frees. */
static char *read_file(const char *name)
{
    const char *tree = getenv("top_srcdir");
    char path[400], *bytes = malloc(1 << 20);
    size_t len;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", tree ? tree : ".", name);
    file = fopen(path, "r");
    ck_assert_msg(file && bytes, "%s cannot be read", path);
    len = fread(bytes, 1, (1 << 20) - 1, file);
    bytes[len] = '\0';
    fclose(file);
    return bytes;
}

/* Which words go with a verb, as its script takes them (scripts/return.lua, inc/bury.lua). */
static const char *words_of(enum later_verb verb)
{
    return verb == LATER_VERB_ACK       ? " done "
           : verb == LATER_VERB_RELEASE ? " ran crashed "
           : verb == LATER_VERB_RETURN  ? " held line type suspect interrupted unknown "
           : verb == LATER_VERB_BURY    ? " ran crashed unrun "
                                        : "";
}

CASE("table", NULL, NULL);

TEST(test_each_row_is_whole)
{
    for (int i = 0; i < LATER_ENDINGS; i++) {
        const struct later_ending_row *row = &later_endings[i];
        char word[24];

        ck_assert_msg(row->name && *row->name, "row %d", i);
        for (int other = 0; other < i; other++)
            ck_assert_str_ne(row->name, later_endings[other].name);
        ck_assert_msg(row->verb <= LATER_VERB_BURY, "%s", row->name);
        ck_assert_msg(row->counted <= LATER_OUTCOME_NONE, "%s", row->name);
        snprintf(word, sizeof word, " %s ", row->how ? row->how : "");
        ck_assert_msg(!row->how || strstr(words_of(row->verb), word), "%s: %s", row->name, word);
        /* A failed attempt says why; without an attempt of it nothing is `ran`. */
        ck_assert_msg(!later_outcome_failed(row->counted) || row->kind, "%s", row->name);
        ck_assert_msg(row->counted != LATER_OUTCOME_NONE || !row->how ||
                          !strstr(" ran crashed ", word),
                      "%s", row->name);
    }
    ck_assert_int_eq(LATER_ENDED_HELD, 0); /* a slot that says nothing */
    ck_assert_uint_lt(LATER_ENDINGS, 256); /* a byte of a slot */
}

TEST(test_the_last_attempt)
{
    for (int i = 0; i < LATER_ENDINGS; i++) {
        enum later_ending ending = (enum later_ending)i;
        enum later_verb verb = later_ending_verb(ending, false);

        ck_assert_int_eq(verb, later_endings[i].verb);
        ck_assert_int_eq(later_ending_verb(ending, true),
                         verb == LATER_VERB_RELEASE ? LATER_VERB_BURY : verb);
        ck_assert_int_eq(later_ending_counted(ending, true), ending == LATER_ENDED_RETRY
                                                                 ? LATER_OUTCOME_BURY
                                                                 : later_endings[i].counted);
    }
}

/* What had not begun is no attempt. If it is buried, its error says why; what is used up keeps its
 * last one. */
TEST(test_what_had_not_begun)
{
    static const struct {
        enum later_ending ending;
        enum later_verb verb;
        const char *how, *kind;
    } rows[] = { { LATER_ENDED_HELD, LATER_VERB_RETURN, "held", NULL },
                 { LATER_ENDED_LAPSED, LATER_VERB_RELEASE, NULL, "lapse" },
                 { LATER_ENDED_BAD, LATER_VERB_BURY, "unrun", "bad" },
                 { LATER_ENDED_UNKNOWN, LATER_VERB_RETURN, "unknown", NULL },
                 { LATER_ENDED_UNSERVED, LATER_VERB_BURY, "unrun", "unknown" },
                 { LATER_ENDED_EXPIRED, LATER_VERB_EXPIRE, NULL, NULL },
                 { LATER_ENDED_USED_UP, LATER_VERB_BURY, "unrun", NULL },
                 { LATER_ENDED_LINE, LATER_VERB_RETURN, "line", NULL },
                 { LATER_ENDED_PAUSED, LATER_VERB_RETURN, "type", NULL } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct later_ending_row *row = &later_endings[rows[i].ending];

        ck_assert_int_eq(row->verb, rows[i].verb);
        ck_assert_pstr_eq(row->how, rows[i].how);
        ck_assert_pstr_eq(row->kind, rows[i].kind);
        ck_assert_int_eq(row->counted, LATER_OUTCOME_NONE);
    }
}

TEST(test_outcomes)
{
    static const struct {
        const char *name;
        bool attempt, failed;
    } rows[] = { { "done", true, false },   { "retry", true, true }, { "bury", true, true },
                 { "timeout", true, true }, { "crash", true, true }, { "interrupted", true, false },
                 { "return", false, false } };

    ck_assert_uint_eq(sizeof rows / sizeof *rows, LATER_OUTCOMES);
    for (int i = 0; i < LATER_OUTCOMES; i++) {
        enum later_outcome outcome = (enum later_outcome)i;

        ck_assert_str_eq(later_outcome_name(outcome), rows[i].name);
        ck_assert_int_eq(later_outcome_is_attempt(outcome), rows[i].attempt);
        ck_assert_int_eq(later_outcome_failed(outcome), rows[i].failed);
    }
    ck_assert(!later_outcome_is_attempt(LATER_OUTCOME_NONE));
    ck_assert(!later_outcome_failed(LATER_OUTCOME_NONE));
}

TEST(test_kinds)
{
    char kinds[LATER_KINDS_ROOM], small[9];

    later_ending_kinds(kinds, sizeof kinds);
    ck_assert_str_eq(kinds, "retry, timeout, crash, lapse, bad, buried, unknown, return");
    later_ending_kinds(small, sizeof small);
    ck_assert_str_eq(small, "retry, t");
    ck_assert_str_eq(later_ending_kind("lapse"), "lapse");
    ck_assert_ptr_null(later_ending_kind("held"));
    ck_assert_ptr_null(later_ending_kind(""));
}

/* ---- what people read */

static void put_row(int i, char *text, size_t room)
{
    static const char *const verbs[] = { [LATER_VERB_ACK] = "ack",
                                         [LATER_VERB_EXPIRE] = "expire",
                                         [LATER_VERB_RELEASE] = "release",
                                         [LATER_VERB_RETURN] = "return",
                                         [LATER_VERB_BURY] = "bury" };
    const struct later_ending_row *row = &later_endings[i];
    bool lapse = i == LATER_ENDED_LAPSED;

    snprintf(text, room, "\n| `%s` | %s | %s | %s | %s |", row->name,
             lapse ? "lapse" : verbs[row->verb], row->how ? row->how : "",
             row->kind ? row->kind : "",
             row->counted < LATER_OUTCOMES ? later_outcome_name(row->counted) : "");
}

CASE("papers", NULL, NULL);

TEST(test_protocol)
{
    char *text = read_file("doc/protocol.md"), *table = strstr(text, "| ending | verb | `how` |"),
         *end;
    size_t lines = 0;

    ck_assert_ptr_nonnull(table);
    end = strstr(table, "\n\n");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    for (const char *at = table; (at = strstr(at, "\n| `")); at++)
        lines++;
    ck_assert_uint_eq(lines, LATER_ENDINGS);
    for (int i = 0; i < LATER_ENDINGS; i++) {
        char row[200];

        put_row(i, row, sizeof row);
        ck_assert_msg(strstr(table, row) != NULL, "doc/protocol.md lacks the row %s", row + 1);
    }
    free(text);
}

/* Is the text of a file from one place to another a list of all kinds, each written so? */
static void check_kinds(const char *name, const char *from, const char *to, const char *mark)
{
    char *text = read_file(name), *list = strstr(text, from), *end;

    ck_assert_msg(list != NULL, "%s: no %s", name, from);
    end = strstr(list, to);
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    for (int i = 0; i < LATER_ENDINGS; i++) {
        const char *kind = later_endings[i].kind;
        char word[32];

        snprintf(word, sizeof word, "%s%s%s", strcmp(mark, ":") == 0 ? "" : mark, kind ? kind : "",
                 mark);
        ck_assert_msg(!kind || strstr(list, word), "%s does not know %s", name, kind);
    }
    free(text);
}

TEST(test_lists_of_kinds)
{
    check_kinds("doc/later.1", "whose last error is of this kind:", ".It Fl", "");
    check_kinds("doc/protocol.md",
                "The `kind` of an error is one of these:", "A job that is buried", "`");
    check_kinds("web/pages/timeline.js", "const WORDS", "// An error", ":");
    check_kinds("web/pages/complete.js", "const KINDS", ";", "'");
}
