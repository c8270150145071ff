/* exec_output.c: what programs print. */
#include "exec_output.h"

#include <later/job_json.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void exec_output_keep(struct exec_output *output, const char *bytes, size_t len)
{
    size_t old;

    if (len > output->size) {
        bytes += len - output->size;
        len = output->size;
    }
    old = output->size - len < output->len ? output->size - len : output->len;
    if (old < output->len)
        memmove(output->bytes, output->bytes + output->len - old, old);
    for (size_t i = 0; i < len; i++) /* a NUL would end the text early */
        output->bytes[old + i] = bytes[i] ? bytes[i] : '?';
    output->len = old + len;
}

const char *exec_output_hint(const char *bytes, size_t len)
{
    static const char words[] = "read-only file system";

    for (size_t i = 0; i + sizeof words - 1 <= len; i++) {
        if (strncasecmp(bytes + i, words, sizeof words - 1) == 0)
            return ": is that the sandbox? laterd(8), SANDBOX";
    }
    return "";
}

/* Does the line begin as `ValueError: `, `app.errors.NotFoundException: ` or `Error [CODE]: `? */
static bool is_error_line(const char *line, size_t len)
{
    static const char *const ends[] = { "Error", "Exception" };
    size_t word = 0, end;

    while (word < len && (isalnum((unsigned char)line[word]) || strchr("_.", line[word])))
        word++;
    if (word == len || (line[word] != ':' && (line[word] != ' ' || line[word + 1] != '[')))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        end = strlen(ends[i]);
        if (word >= end && memcmp(line + word - end, ends[i], end) == 0)
            return true;
    }
    return false;
}

/* Finds the line with which Python and Node say what was wrong: the last one, but for indented
 * ones, brackets, and Node's version. It is not the first, which is in its place already. Returns
 * the line's length; 0 if there is none. */
static size_t find_error_line(const char *bytes, size_t len, const char **line)
{
    static const char node[] = "Node.js v";
    size_t from, to = len;

    for (; to > 0; to = from > 0 ? from - 1 : 0) {
        for (from = to; from > 0 && bytes[from - 1] != '\n';)
            from--;
        if (from == to || strchr(" \t\r}", bytes[from]) ||
            (to - from >= sizeof node - 1 && memcmp(bytes + from, node, sizeof node - 1) == 0))
            continue;
        *line = bytes + from;
        return from > 0 && is_error_line(*line, to - from) ? to - from : 0;
    }
    return 0;
}

/* The length without white space at its end. */
static size_t trimmed(const char *bytes, size_t len)
{
    while (len > 0 && strchr(" \t\r\n", bytes[len - 1]))
        len--;
    return len;
}

/* Puts the line that says what was wrong, if there is one, before the others: where only the first
 * line is shown, it is the one to be read. Without it at the end, *len is what is left there. */
static void put_error_line(char *first, size_t n, const char *bytes, size_t *len)
{
    const char *line = NULL;
    size_t size = find_error_line(bytes, *len, &line);

    snprintf(first, n, "%s%.*s%s", size ? ": " : "", (int)(size < n ? size : n), line ? line : "",
             size ? "\n" : "");
    if (size && line + size == bytes + *len)
        *len = trimmed(bytes, *len - size);
}

void exec_output_text(char *text, size_t n, const char *reason, const struct exec_output *output)
{
    const char *tail = output->bytes, *hint = exec_output_hint(tail, output->len);
    size_t used, room, len = trimmed(tail, output->len);
    char first[256];

    put_error_line(first, sizeof first, tail, &len);
    used = strlen(reason) + strlen(hint) + strlen(first) + 3;
    room = used < n ? n - used : 0;
    if (len > room) {
        tail += len - room;
        len = room;
    }
    /* Do not begin in the middle of a character. */
    while (len > 0 && ((unsigned char)*tail & 0xc0) == 0x80) {
        tail++;
        len--;
    }
    snprintf(text, n, "%s%s%s%s%.*s", reason, hint, first, len > 0 && !*first ? ": " : "", (int)len,
             len > 0 ? tail : "");
}

void exec_output_fail(struct later_job *job, const char *reason, const struct exec_output *output)
{
    char text[EXEC_ERROR_MAX + 1];

    exec_output_text(text, sizeof text, reason, output);
    later_job_error(job, "%s", text);
}

void exec_output_plain(char *line)
{
    char *to = line;

    while (*line) {
        if (line[0] == '\033' && line[1] == '[') { /* ESC [ parameters and a letter */
            line += 2;
            line += strspn(line, "0123456789;:?");
            line += *line >= '@' && *line <= '~';
        } else {
            *to++ = *line++;
        }
    }
    *to = '\0';
}

int exec_output_level_of(const char *word)
{
    static const struct {
        const char *word;
        enum later_level level;
    } levels[] = {
        { "fatal", LATER_ERROR },  { "critical", LATER_ERROR }, { "error", LATER_ERROR },
        { "warning", LATER_WARN }, { "warn", LATER_WARN },      { "notice", LATER_INFO },
        { "info", LATER_INFO },    { "debug", LATER_DEBUG },    { "trace", LATER_DEBUG }
    };

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcasecmp(word, levels[i].word) == 0)
            return (int)levels[i].level;
    }
    return -1;
}

static int level_of_json(const char *line)
{
    json_t *object = json_loads(line, 0, NULL);
    const char *word = later_json_string(object, "level", "");
    double number = later_json_number(object, "level", -1);
    int level = exec_output_level_of(word);

    if (number >= 10) /* pino's numbers: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal */
        level = number >= 50   ? LATER_ERROR
                : number >= 40 ? LATER_WARN
                : number >= 30 ? LATER_INFO
                               : LATER_DEBUG;
    json_decref(object);
    return level;
}

enum later_level exec_output_level(const char *line, const char **text)
{
    static const enum later_level of_syslog[] = { LATER_ERROR, LATER_ERROR, LATER_ERROR,
                                                  LATER_ERROR, LATER_WARN,  LATER_INFO,
                                                  LATER_INFO,  LATER_DEBUG };
    int level = -1;

    *text = line;
    if (line[0] == '<' && line[1] >= '0' && line[1] <= '7' && line[2] == '>') {
        *text = line + 3;
        return of_syslog[line[1] - '0'];
    }
    if (line[0] == '{')
        level = level_of_json(line);
    return level < 0 ? LATER_INFO : (enum later_level)level;
}
