/* lines_json.c: lines of JSON that become the elements of a list. */
#include "tasks/lines_json.h"

#include <stdlib.h>
#include <string.h>

void lines_json_begin(struct lines_json *lines)
{
    lines->count = 0;
    lines->out = open_memstream(&lines->fresh, &lines->len);
}

void lines_json_add(struct lines_json *lines, const char *line, size_t len)
{
    if (!lines->out)
        return;
    if (lines->count++)
        putc(',', lines->out);
    fwrite(line, 1, len, lines->out);
}

bool lines_json_end(struct lines_json *lines, bool keep)
{
    char *gone = keep ? lines->text : NULL;
    bool differs;

    if (lines->out)
        fclose(lines->out);
    lines->out = NULL;
    if (keep)
        lines->text = lines->fresh;
    else
        free(lines->fresh);
    lines->fresh = NULL;
    differs = keep && strcmp(gone ? gone : "", lines_json_text(lines)) != 0;
    free(gone);
    return differs;
}

void lines_json_free(struct lines_json *lines)
{
    lines_json_end(lines, false);
    free(lines->text);
    *lines = (struct lines_json){ 0 };
}

const char *lines_json_text(const struct lines_json *lines)
{
    return lines->text ? lines->text : "";
}
