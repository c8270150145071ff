/* table.c: rows for people or for programs. */
#include "output/table.h"

#include "base/grow.h"
#include "base/printable.h"

#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define GAP 2 /* spaces between columns */

const char *table_colour(bool coloured, enum colour colour)
{
    static const char *const sequences[] = {
        [PLAIN] = "\033[0m", [BOLD] = "\033[1m",   [DIM] = "\033[2m",
        [RED] = "\033[31m",  [GREEN] = "\033[32m", [YELLOW] = "\033[33m"
    };

    return coloured ? sequences[colour] : "";
}

void table_begin(struct table *table, bool aligned, bool coloured, const char *const *headings)
{
    *table = (struct table){ .aligned = aligned, .coloured = coloured };
    while (headings[table->columns] && table->columns < TABLE_COLUMNS_MAX) {
        table->headings[table->columns] = headings[table->columns];
        table->columns++;
    }
}

/* --- for programs --- */

static void put_separated(struct table *table, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        putchar(strchr("\t\n\r", bytes[i]) && bytes[i] ? ' ' : bytes[i]);
    table->count++;
    putchar(table->count % table->columns ? '\t' : '\n');
}

/* --- for people --- */

/* Returns a copy that is safe on a terminal. The bytes may contain NULs. */
static char *fit(const char *bytes, size_t len)
{
    char *copy = malloc(len + 1);

    if (!copy)
        return NULL;
    for (size_t i = 0; i < len; i++)
        copy[i] = !bytes[i] ? '?' : strchr("\t\n\r", bytes[i]) ? ' ' : bytes[i];
    copy[len] = '\0';
    later_make_printable(copy);
    return copy;
}

static void table_keep(struct table *table, enum colour colour, const char *bytes, size_t len)
{
    if (!later_grow(&table->cells, &table->room, table->count, sizeof *table->cells))
        return; /* out of memory: better one row missing than no table */
    table->cells[table->count++] = (struct table_cell){ .text = fit(bytes, len), .colour = colour };
}

static const char *cell_text(const struct table *table, size_t i)
{
    return table->cells[i].text ? table->cells[i].text : "";
}

static void measure(const struct table *table, size_t widths[TABLE_COLUMNS_MAX])
{
    for (size_t c = 0; c < table->columns; c++) {
        widths[c] = strlen(table->headings[c]) - (table->headings[c][0] == '>');
        for (size_t i = c; i < table->count; i += table->columns) {
            size_t width = text_width(cell_text(table, i));

            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
}

static size_t terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static void put_spaces(size_t count)
{
    printf("%*s", (int)count, "");
}

/* Prints at most `room` characters of text. If it is cut, the last of them is "…". */
static void put_cut(const char *text, size_t room)
{
    size_t width = 0;
    bool cut = text_width(text) > room;

    for (; *text; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80;
        if (cut && width >= room) {
            fputs("\xE2\x80\xA6", stdout);
            return;
        }
        putchar(*text);
    }
}

/* Prints one cell in its column. `left`: columns that the terminal still has. */
static void put_cell(const struct table *table, size_t column, const char *text, enum colour colour,
                     size_t width, size_t left)
{
    size_t used = text_width(text), pad = used < width ? width - used : 0;
    bool last = column + 1 == table->columns, right = table->headings[column][0] == '>';

    if (right)
        put_spaces(pad);
    if (colour != PLAIN)
        fputs(table_colour(table->coloured, colour), stdout);
    put_cut(text, last && left > 10 && !table->whole ? left : SIZE_MAX);
    if (colour != PLAIN)
        fputs(table_colour(table->coloured, PLAIN), stdout);
    if (last)
        putchar('\n');
    else
        put_spaces((right ? 0 : pad) + GAP);
}

static void put_aligned(const struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX], before = 0, room = terminal_width();

    measure(table, widths);
    for (size_t c = 0; c + 1 < table->columns; c++)
        before += widths[c] + GAP;
    room = room > before ? room - before : 0;
    for (size_t c = 0; c < table->columns; c++)
        put_cell(table, c, table->headings[c] + (table->headings[c][0] == '>'), BOLD, widths[c],
                 room);
    for (size_t i = 0; i < table->count - table->count % table->columns; i++) {
        size_t c = i % table->columns;

        put_cell(table, c, cell_text(table, i), table->cells[i].colour, widths[c], room);
    }
}

/* --- both --- */

void table_bytes(struct table *table, enum colour colour, const char *bytes, size_t len)
{
    if (table->aligned)
        table_keep(table, colour, bytes, len);
    else
        put_separated(table, bytes, len);
}

void table_text(struct table *table, enum colour colour, const char *text)
{
    if (text)
        table_bytes(table, colour, text, strlen(text));
    else
        table_none(table);
}

void table_print(struct table *table, enum colour colour, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    table_text(table, colour, text);
    free(text);
}

void table_number(struct table *table, enum colour colour, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    table_text(table, colour, text);
}

void table_age(struct table *table, enum colour colour, double seconds)
{
    char text[48];

    if (table->aligned)
        text_put_age(text, sizeof text, seconds);
    else
        text_put_real(text, sizeof text, seconds);
    table_text(table, colour, text);
}

void table_size(struct table *table, uint64_t bytes)
{
    char text[48];

    if (table->aligned)
        table_text(table, PLAIN, text_put_bytes(text, sizeof text, bytes));
    else
        table_number(table, PLAIN, bytes);
}

void table_time(struct table *table, enum colour colour, double unix_seconds)
{
    char text[48];

    table_text(table, colour, text_put_time(text, sizeof text, unix_seconds));
}

void table_known_age(struct table *table, enum colour colour, double seconds)
{
    if (seconds >= 0)
        table_age(table, colour, seconds);
    else
        table_none(table);
}

void table_none(struct table *table)
{
    table_text(table, DIM, table->aligned ? "-" : "");
}

void table_end(struct table *table)
{
    if (table->aligned && table->count >= table->columns)
        put_aligned(table);
    else if (table->aligned && table->instead)
        printf("%s%s%s\n", table_colour(table->coloured, DIM), table->instead,
               table_colour(table->coloured, PLAIN));
    for (size_t i = 0; table->aligned && i < table->count; i++)
        free(table->cells[i].text);
    free(table->cells);
    *table = (struct table){ 0 };
}
