/* config_scan.c: a configuration as one text, with the places of its lines. */
#include "config/config_scan.h"

#include "config/config_file.h"
#include "config/config_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define INCLUDE_DEPTH 10
#define FILES_MAX     1000
#define TEXT_MAX      (1024 * 1024)

/* One file being scanned. */
struct source {
    struct config_scan *scan;
    struct later_error *err;
    const char *path, *dir;
    const char *at; /* NUL-terminated */
    unsigned line;
    int depth;
};

static int scan_included(struct source *source, const char *name);

static int config_scan_fault(const struct source *source, const char *what)
{
    return later_fail(source->err, LATER_E_CONFIG, "%s:%u: %s", source->path, source->line, what);
}

/* Notes that the next text is from the source's present line. */
static int note_segment(struct source *source)
{
    struct config_scan *scan = source->scan;
    struct config_segment *grown;

    grown = realloc(scan->segments, (scan->segment_count + 1) * sizeof *grown);
    if (!grown)
        return config_no_memory(source->err);
    scan->segments = grown;
    grown[scan->segment_count++] = (struct config_segment){ .path = source->path,
                                                            .line = scan->text_line,
                                                            .from = source->line };
    return 0;
}

/* Appends to the whole text. */
static int emit(struct source *source, const char *text, size_t len)
{
    struct config_scan *scan = source->scan;

    if (len > TEXT_MAX - scan->text_len)
        return config_scan_fault(
            source, "more than 1 MiB with all that is included; is it the right file?");
    memcpy(scan->text + scan->text_len, text, len);
    scan->text_len += len;
    scan->text[scan->text_len] = '\0';
    for (size_t i = 0; i < len; i++)
        scan->text_line += text[i] == '\n';
    return 0;
}

/* Is what follows these digits the rest of a number with a point or an exponent? */
static bool is_real(const char *rest)
{
    if (*rest != 'e' && *rest != 'E')
        return *rest == '.';
    return isdigit((unsigned char)rest[1 + (rest[1] == '+' || rest[1] == '-')]);
}

/* Is this the point of a name as the manual writes it, redis.url? A file has groups instead. */
static bool is_dotted(const char *at)
{
    return at[0] == '.' && isalpha((unsigned char)at[1]);
}

/* Skips a number, or a sign or point that could have begun one. Returns whether it is a whole
 * number without the L that makes libconfig read all of it; -1 with a fault. */
static int skip_number(struct source *source)
{
    const char *at = source->at;
    bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && isxdigit((unsigned char)at[2]);
    size_t len;
    char *end;

    if (is_dotted(at))
        return config_scan_fault(source, "a point in a name; what the manual calls redis.url is "
                                         "written redis = { url = ...; };");
    errno = 0;
    (void)strtoll(at, &end, hex ? 16 : 10);
    if (end > at && (hex || !is_real(end))) {
        source->at = end;
        return errno == 0
                   ? *end != 'L'
                   : config_scan_fault(source,
                                       "a number of more than 64 bits; write a smaller one, or "
                                       "a string where any value will do");
    }
    len = 1 + strspn(at + 1, "0123456789.eE+-");
    if (memchr(at, '.', len) && strcspn(at, "0123456789") >= len)
        return config_scan_fault(source, "a number without a digit; write 0 for none");
    source->at += len;
    return 0;
}

/* Skips a string with its quotes. */
static int config_scan_skip_string(struct source *source)
{
    unsigned line = source->line;

    for (source->at++; *source->at != '"'; source->at++) {
        if (*source->at == '\\' && strncasecmp(source->at + 1, "x00", 3) == 0)
            return config_scan_fault(source, "\\x00 would end the string; leave it out");
        if (*source->at == '\\' && source->at[1])
            source->at++;
        source->line += *source->at == '\n';
        if (!*source->at) {
            source->line = line;
            return config_scan_fault(source,
                                     "the string that begins here has no end; a quote is missing");
        }
    }
    source->at++;
    return 0;
}

static int skip_comment(struct source *source)
{
    unsigned line = source->line;

    if (*source->at == '#' || source->at[1] == '/') {
        source->at += strcspn(source->at, "\n");
        return 0;
    }
    for (source->at += 2; source->at[0] != '*' || source->at[1] != '/'; source->at++) {
        source->line += *source->at == '\n';
        if (!*source->at) {
            source->line = line;
            return config_scan_fault(source,
                                     "the comment that begins here has no end; */ is missing");
        }
    }
    source->at += 2;
    return 0;
}

/* If there is an `@include "NAME"` at the beginning of a line, copies the name and skips the
 * directive. */
static int take_include(struct source *source, char *name, size_t size)
{
    const char *at = source->at + strspn(source->at, " \t");
    size_t len = 0;

    if (strncmp(at, "@include", 8) != 0 || (at[8] != ' ' && at[8] != '\t'))
        return 0;
    at += 8 + strspn(at + 8, " \t");
    if (*at++ != '"')
        return 0;
    while (*at && *at != '"' && *at != '\n' && len + 1 < size) {
        if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
            at++;
        name[len++] = *at++;
    }
    if (*at != '"')
        return config_scan_fault(source, "the name after @include has no end; @include \"FILE\"");
    name[len] = '\0';
    source->at = at + 1;
    return 1;
}

/* Puts the included text in place of the directive. What follows begins a new line in the whole
 * text. */
static int include(struct source *source, const char *name)
{
    const struct config_scan *scan = source->scan;

    if (scan_included(source, name) < 0)
        return -1;
    if (scan->text_len > 0 && scan->text[scan->text_len - 1] != '\n' && emit(source, "\n", 1) < 0)
        return -1;
    return note_segment(source);
}

/* Skips the next word, number, string, comment or sign. Returns 1 if it needs an L after it. */
static int skip_token(struct source *source)
{
    const char *at = source->at;

    if (*at == '"')
        return config_scan_skip_string(source);
    if (*at == '#' || (*at == '/' && (at[1] == '/' || at[1] == '*')))
        return skip_comment(source);
    if (isalpha((unsigned char)*at) || *at == '*') {
        while (isalnum((unsigned char)*source->at) || (*source->at && strchr("-_*", *source->at)))
            source->at++;
        return 0;
    }
    if (isdigit((unsigned char)*at) || strchr("+-.", *at))
        return skip_number(source);
    source->line += *at == '\n';
    source->at++;
    return 0;
}

static int scan_text(struct source *source)
{
    char name[1024];

    while (*source->at) {
        const struct config_scan *scan = source->scan;
        bool line_begins = scan->text_len == 0 || scan->text[scan->text_len - 1] == '\n';
        int found = line_begins ? take_include(source, name, sizeof name) : 0, cut_short;
        const char *from = source->at;

        if (found < 0 || (found > 0 && include(source, name) < 0))
            return -1;
        if (found > 0)
            continue;
        cut_short = skip_token(source);
        if (cut_short < 0 || emit(source, from, (size_t)(source->at - from)) < 0 ||
            (cut_short && emit(source, "L", 1) < 0))
            return -1;
    }
    return 0;
}

/* Keeps the path of a file; it lives as long as the scan. */
static const char *note_path(struct config_scan *scan, const char *name, const char *dir)
{
    char **grown = realloc(scan->paths, (scan->path_count + 1) * sizeof *grown);
    char *path;

    if (grown)
        scan->paths = grown;
    if (!grown || asprintf(&path, "%s%s%s", dir ? dir : "", dir ? "/" : "", name) < 0)
        return NULL;
    return scan->paths[scan->path_count++] = path;
}

/* Scans text, which comes from source->path, and frees it. */
static int scan_source(struct source *source, char *text)
{
    int result;

    source->at = text;
    source->line = 1;
    result = note_segment(source) < 0 ? -1 : scan_text(source);
    free(text);
    return result;
}

static int scan_included(struct source *source, const char *name)
{
    struct source next = *source;
    const char *why = NULL;
    char *text;

    if (++next.depth > INCLUDE_DEPTH || source->scan->path_count >= FILES_MAX)
        return config_scan_fault(source,
                                 "more than 1000 files, or @include goes deeper than 10; does one "
                                 "include itself?");
    next.path = note_path(source->scan, name, *name == '/' ? NULL : source->dir);
    if (!next.path)
        return config_no_memory(source->err);
    text = config_file_read(next.path, &why);
    if (!text)
        return later_fail(source->err, LATER_E_CONFIG, "%s:%u: @include: %s: %s", source->path,
                          source->line, next.path, why);
    return scan_source(&next, text);
}

int config_scan(struct config_scan *scan, const char *path, const char *dir,
                struct later_error *err)
{
    struct source source = { .scan = scan, .err = err, .dir = dir };
    const char *why = NULL;
    char *text;

    if (!scan->text)
        scan->text = malloc(TEXT_MAX + 1);
    source.path = scan->text ? note_path(scan, path, NULL) : NULL;
    if (!source.path)
        return config_no_memory(err);
    text = config_file_read(source.path, &why);
    if (!text)
        return later_fail(err, LATER_E_CONFIG, "%s: %s", source.path, why);
    scan->text[0] = '\0';
    scan->text_len = scan->segment_count = 0;
    scan->text_line = 1;
    return scan_source(&source, text);
}

struct config_location config_scan_location(const struct config_scan *scan, unsigned line)
{
    const struct config_segment *segment = scan->segments;

    for (size_t i = 1; i < scan->segment_count && scan->segments[i].line <= line; i++)
        segment = &scan->segments[i];
    return (struct config_location){ .file = segment->path,
                                     .line = segment->from + line - segment->line };
}

void config_scan_free(struct config_scan *scan)
{
    for (size_t i = 0; i < scan->path_count; i++)
        free(scan->paths[i]);
    free(scan->paths);
    free(scan->text);
    free(scan->segments);
}
