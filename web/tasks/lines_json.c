/* lines_json.c: lines of JSON that become the elements of a list. */
#include "tasks/lines_json.h"

#include <stdlib.h>

void lines_json_begin(struct lines_json *lines)
{
    *lines = (struct lines_json){ 0 };
    lines->out = open_memstream(&lines->text, &lines->len);
}

void lines_json_add(struct lines_json *lines, const char *line, size_t len)
{
    if (!lines->out)
        return;
    if (lines->count++)
        putc(',', lines->out);
    fwrite(line, 1, len, lines->out);
}

void lines_json_end(struct lines_json *lines)
{
    if (lines->out)
        fclose(lines->out);
    lines->out = NULL;
}

void lines_json_free(struct lines_json *lines)
{
    lines_json_end(lines);
    free(lines->text);
    *lines = (struct lines_json){ 0 };
}

const char *lines_json_text(const struct lines_json *lines)
{
    return lines->text ? lines->text : "";
}
