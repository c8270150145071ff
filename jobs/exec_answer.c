/* exec_answer.c: a job as a line for a long-lived program, and the line that answers it. */
#include "exec_answer.h"

#include "exec_members.h"
#include "exec_output.h"

#include <later/job_json.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 256 }; /* bytes of the numbers of a line, and of all its names */

#define TEXT_OF_(number) #number
#define TEXT_OF(number)  TEXT_OF_(number)
#define TOO_LONG         "longer than " TEXT_OF(EXEC_LINE_MAX) " bytes"

/* clang-format off */
static const struct {
    const char *word;
    uint32_t result;
    bool value;  /* may it have a value? Else an error */
    bool reason; /* is it noted if it gives none? */
    bool wait;   /* may it say when the job runs again? */
} results[] = {
    /* @answers answer: { "{name}", {constant}, {value}, {reason}, {wait} }, */
    { "done", LATER_DONE, true, false, false },
    { "retry", LATER_RETRY, false, true, true },
    { "bury", LATER_BURY, false, true, false },
    { "return", LATER_RETURN, false, false, true },
    /* @end */
};
/* clang-format on */

enum { RESULTS = sizeof results / sizeof *results };

/* Asks for the fencing number of the job's own lock, but only if the document may have a lock. */
static bool ask_fence(struct later_job *job, uint64_t *fence)
{
    size_t len;
    const char *document = later_job_document(job, &len);
    json_t *members = NULL;
    const char *lock;
    bool known;

    if (memmem(document, len, "\"lock\"", 6))
        members = json_loadb(document, len, JSON_ALLOW_NUL, NULL);
    lock = json_string_value(json_object_get(members, "lock"));
    known = lock && later_lock_fence(job, lock, fence) == LATER_YES;
    json_decref(members);
    return known;
}

/* Adds `,"name":"text"` to a line, or nothing if text is NULL. These texts have no control
 * characters. */
static char *exec_answer_add_text(char *at, const char *name, const char *text)
{
    if (!text)
        return at;
    at = stpcpy(stpcpy(at, name), ":\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    *at++ = '"';
    return at;
}

static char *exec_answer_add_numbers(char *at, const struct later_job *job, double time_left)
{
    double left = fmax(time_left, 0);

    return at + sprintf(at, ",\"attempt\":%u,\"max_attempts\":%u,\"time_left\":%u.%03u",
                        later_job_attempt(job), later_job_max_attempts(job), (unsigned)left,
                        (unsigned)((left - floor(left)) * 1000));
}

/* Adds a member whose bytes are JSON, or nothing if they are NULL; without line ends, which in JSON
 * are white space. */
static char *exec_answer_add_json(char *at, const char *name, const char *bytes, size_t len)
{
    if (!bytes)
        return at;
    at = stpcpy(at, name);
    for (size_t i = 0; i < len; i++)
        at[i] = bytes[i] == '\n' || bytes[i] == '\r' ? ' ' : bytes[i];
    return at + len;
}

/* Writes {"id":…, …  up to the members that are JSON. */
static char *add_head(char *at, struct later_job *job, double time_left)
{
    uint64_t fence;

    at = exec_answer_add_text(at, "{\"id\"", later_job_id(job));
    at = exec_answer_add_text(at, ",\"type\"", later_job_type(job));
    at = exec_answer_add_text(at, ",\"queue\"", later_job_queue(job));
    at = exec_answer_add_numbers(at, job, time_left);
    at = exec_answer_add_text(at, ",\"token\"", later_job_token(job));
    at = exec_answer_add_text(at, ",\"trace\"", later_job_trace(job));
    return ask_fence(job, &fence) ? at + sprintf(at, ",\"lock_fence\":%ju", (uintmax_t)fence) : at;
}

/* At most how many bytes has the head? Each of a text may be two. */
static size_t head_max(const struct later_job *job)
{
    const char *trace = later_job_trace(job);

    return NUMBERS_MAX + 2 * (strlen(later_job_id(job)) + strlen(later_job_type(job)) +
                              strlen(later_job_queue(job)) + strlen(later_job_token(job)) +
                              (trace ? strlen(trace) : 0));
}

char *exec_answer_ask(struct later_job *job, double time_left, size_t *len)
{
    struct {
        const char *name, *bytes;
        size_t len;
    } parts[] = { { ",\"values\":", NULL, 0 },
                  { ",\"flow\":", NULL, 0 },
                  { ",\"checkpoint\":", NULL, 0 },
                  { ",\"document\":", NULL, 0 } };
    const size_t count = sizeof parts / sizeof *parts;
    size_t most = head_max(job);
    char *line, *at;

    parts[0].bytes = later_job_values(job, &parts[0].len);
    parts[1].bytes = later_job_flow(job, &parts[1].len);
    parts[2].bytes = later_job_resumes(job, &parts[2].len);
    parts[3].bytes = later_job_document(job, &parts[3].len);
    for (size_t i = 0; i < count; i++)
        most += parts[i].bytes ? parts[i].len : 0;
    line = malloc(most);
    if (!line)
        return NULL;
    at = add_head(line, job, time_left);
    for (size_t i = 0; i < count; i++)
        at = exec_answer_add_json(at, parts[i].name, parts[i].bytes, parts[i].len);
    at = stpcpy(at, "}\n");
    *len = (size_t)(at - line);
    return line;
}

char *exec_answer_order(const struct later_job *job, const char *order, size_t *len)
{
    json_t *object = json_pack("{s:s, s:b}", "id", later_job_id(job), order, 1);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    json_decref(object);
    if (text) {
        *len = strlen(text) + 1;
        text[*len - 1] = '\n'; /* replaces its NUL */
    }
    return text;
}

/* --- what the program writes --- */

struct line {
    const char *program, *text;
    struct exec_members members;
};

bool exec_answer_is_whole(const char *line)
{
    struct exec_members members;

    exec_members_read(&members, line);
    return !members.fault;
}

uint32_t exec_answer_bury(struct later_job *job, const char *why, const char *line)
{
    later_job_error(job, "its program answered with a line %s: %.200s", why, line);
    return LATER_BURY;
}

static double exec_answer_in(const struct line *line)
{
    json_t *json = exec_members_json(&line->members, EXEC_IN);
    double number = json_is_number(json) ? json_number_value(json) : -1;

    json_decref(json);
    return number;
}

/* Sets the job's value: the very bytes. What laterd cannot keep is logged. */
static void exec_answer_take_value(struct later_job *job, const struct line *line)
{
    const char *fault = line->members.fault;

    if (line->members.of[EXEC_VALUE].bytes)
        later_job_value(job, line->members.of[EXEC_VALUE].bytes, line->members.of[EXEC_VALUE].len);
    else if (fault)
        later_job_log(job, LATER_ERROR,
                      "done without its value: its program answered with a line %s: %.200s", fault,
                      line->text);
}

/* reason: is it noted if there is none? */
static void exec_answer_take_error(struct later_job *job, const struct line *line, bool reason)
{
    char *error = exec_members_text(&line->members, EXEC_ERROR);
    const char *hint = error ? exec_output_hint(error, strlen(error)) : "";

    if (!error && !line->members.fault && !reason)
        return;
    if (!error && line->members.fault)
        exec_answer_bury(job, line->members.fault, line->text);
    else
        later_job_error(job, "%.*s%s", (int)(EXEC_ERROR_MAX - strlen(hint)),
                        error ? error : "the program gave no reason", hint);
    free(error);
}

/* Writes "done, retry, bury or return". */
static void exec_answer_words(char *at, size_t room)
{
    for (int i = 0; i < RESULTS && room > 0; i++) {
        const char *between = i == 0 ? "" : i + 1 < RESULTS ? ", " : " or ";
        size_t len = (size_t)snprintf(at, room, "%s%s", between, results[i].word);

        at += len < room ? len : room;
        room -= len < room ? len : room;
    }
}

static uint32_t unknown_result(struct later_job *job, const struct line *line, const char *said)
{
    json_t *json = exec_members_json(&line->members, EXEC_RESULT);
    const char *fault = line->members.fault;
    char words[100];

    if (!fault && !json && line->members.of[EXEC_RESULT].bytes)
        fault = "that is not JSON";
    json_decref(json);
    if (fault)
        return exec_answer_bury(job, fault, line->text);
    exec_answer_words(words, sizeof words);
    later_job_error(job, "the program answered with result \"%.100s\": %s", said, words);
    return LATER_RETRY;
}

/* Its handler has done its work, and only its value could not be told. Does nobody want that? */
static bool exec_answer_is_done(const struct later_job *job, const struct line *line,
                                const char *said)
{
    return strcmp(said, "bury") == 0 && exec_members_is_true(&line->members, EXEC_DONE) &&
           later_job_wanted(job) == LATER_NO;
}

static uint32_t exec_answer_take_word(struct later_job *job, const struct line *line,
                                      const char *said)
{
    int i = 0;
    double in;

    if (exec_answer_is_done(job, line, said))
        return LATER_DONE;
    while (i < RESULTS && strcmp(results[i].word, said) != 0)
        i++;
    if (i == RESULTS)
        return unknown_result(job, line, said);
    if (results[i].value)
        exec_answer_take_value(job, line);
    else
        exec_answer_take_error(job, line, results[i].reason);
    in = exec_answer_in(line);
    if (in >= 0 && results[i].wait)
        later_job_retry_in(job, fmin(in, 315360000));
    return results[i].result;
}

static uint32_t take_result(struct later_job *job, const struct line *line)
{
    char *said = exec_members_text(&line->members, EXEC_RESULT);
    uint32_t result = exec_answer_take_word(job, line, said ? said : "");

    free(said);
    return result;
}

/* Logs {"log":LEVEL,"text":"…"}, with the fields of the job that it names. What is no level is
 * logged, too: a client's log() may have been called with its text in the place of the level. */
static void take_log(const struct later_job *job, const struct line *line)
{
    char *word = exec_members_text(&line->members, EXEC_LOG);
    char *said = exec_members_text(&line->members, EXEC_TEXT);
    int level = exec_output_level_of(word ? word : "");
    const char *before = level < 0 && word ? word : "", *colon = *before ? ": " : "";
    const char *text = said ? said : "";

    if (level < 0)
        level = LATER_INFO;
    if (job)
        later_job_log(job, (enum later_level)level, "%s%s%s", before, colon, text);
    else
        later_log("exec", (enum later_level)level, "%s: %s%s%s", line->program, before, colon,
                  text);
    free(word);
    free(said);
}

static enum exec_answer_kind take_progress(struct later_job *job, const struct line *line)
{
    json_t *progress = exec_members_json(&line->members, EXEC_PROGRESS);
    double done = later_json_number(progress, "done", 0);
    double total = later_json_number(progress, "total", 0);

    if (progress && job)
        later_job_progress(job, fmax(done, 0), fmax(total, 0),
                           later_json_string(progress, "text", ""));
    json_decref(progress);
    return progress && job ? EXEC_ANSWER_NOTE : EXEC_ANSWER_REFUSED;
}

/* Keeps where the job's next attempt goes on: the very bytes. What cannot be kept is logged. */
static enum exec_answer_kind take_checkpoint(struct later_job *job, const struct line *line)
{
    const char *bytes = line->members.of[EXEC_CHECKPOINT].bytes;

    if (bytes && job)
        later_job_checkpoint(job, bytes, line->members.of[EXEC_CHECKPOINT].len);
    return job ? EXEC_ANSWER_NOTE : EXEC_ANSWER_REFUSED;
}

/* What the program says of its types, besides their names. */
static void exec_answer_introduce(const struct exec_members *members)
{
    json_t *types = exec_members_json(members, EXEC_TYPES), *type;
    size_t i;

    json_array_foreach(types, i, type)
    {
        const char *name = json_string_value(json_object_get(type, "name"));
        char *text = json_object_size(type) > 1 ? json_dumps(type, JSON_COMPACT) : NULL;

        if (name && text)
            later_type_says(name, text, strlen(text));
        free(text);
    }
    json_decref(types);
}

static enum exec_answer_kind exec_answer_take(struct later_job *job, const struct line *line,
                                              struct exec_answer *answer)
{
    const struct exec_members *members = &line->members;

    answer->why = members->fault   ? members->fault
                  : !answer->id[0] ? "without an id"
                  : !job           ? "for another job than the present one"
                                   : "with progress that is not JSON";
    if (members->of[EXEC_LOG].bytes) {
        take_log(job, line);
        return EXEC_ANSWER_NOTE;
    }
    if (members->of[EXEC_HELLO].bytes && !answer->id[0]) {
        answer->hello = true;
        answer->stops = exec_members_is_true(members, EXEC_STOPPING);
        exec_answer_introduce(members);
        return EXEC_ANSWER_NOTE;
    }
    if (members->of[EXEC_PROGRESS].bytes)
        return take_progress(job, line);
    if (members->of[EXEC_CHECKPOINT].bytes && !members->of[EXEC_RESULT].bytes)
        return take_checkpoint(job, line);
    answer->ends = true;
    if (!job)
        return EXEC_ANSWER_REFUSED;
    take_checkpoint(job, line);
    answer->result = take_result(job, line);
    answer->last = exec_members_is_true(members, EXEC_LAST);
    return EXEC_ANSWER_RESULT;
}

enum exec_answer_kind exec_answer_read(exec_find *find, void *arg, const char *program,
                                       const char *text, bool cut, struct exec_answer *answer)
{
    struct line line = { .program = program, .text = text };
    enum exec_answer_kind kind;
    char *id;

    *answer = (struct exec_answer){ .id = "" };
    exec_members_read(&line.members, text);
    if (cut)
        line.members.fault = TOO_LONG;
    id = exec_members_text(&line.members, EXEC_ID);
    if (id && strlen(id) < sizeof answer->id)
        strcpy(answer->id, id);
    free(id);
    kind = exec_answer_take(answer->id[0] ? find(arg, answer->id) : NULL, &line, answer);
    if (cut && kind != EXEC_ANSWER_REFUSED) /* else the caller logs why */
        later_log("exec", LATER_WARN, "%s: skipped the rest of a line longer than %d bytes: %.100s",
                  program, EXEC_LINE_MAX, text);
    return kind;
}
