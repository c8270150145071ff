/* exec_output.c: what programs print. */
#include "exec_output.h"

#include <later/job_json.h>

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

void exec_output_text(char *text, size_t n, const char *reason, const struct exec_output *output)
{
    const char *tail = output->bytes, *hint = exec_output_hint(tail, output->len);
    size_t used = strlen(reason) + strlen(hint) + 3, room = used < n ? n - used : 0;
    size_t len = output->len;

    while (len > 0 && strchr(" \t\r\n", tail[len - 1]))
        len--;
    if (len > room) {
        tail += len - room;
        len = room;
    }
    /* Do not begin in the middle of a character. */
    while (len > 0 && ((unsigned char)*tail & 0xc0) == 0x80) {
        tail++;
        len--;
    }
    snprintf(text, n, "%s%s%s%.*s", reason, hint, len > 0 ? ": " : "", (int)len,
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
