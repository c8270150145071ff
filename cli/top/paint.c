/* paint.c: paints the lines of a frame. */
#include "top/paint.h"

#include "text.h"

#include <inttypes.h>

void paint(struct frame *frame, enum colour colour, const char *text)
{
    size_t room = frame->view->width - frame->used, len = 0, count = 0;

    while (text[len] && (count < room || ((unsigned char)text[len] & 0xC0) == 0x80))
        count += ((unsigned char)text[len++] & 0xC0) != 0x80;
    if (len == 0)
        return;
    if (colour != PLAIN)
        fputs(table_colour(frame->view->coloured, colour), frame->out);
    fwrite(text, 1, len, frame->out);
    if (colour != PLAIN)
        fputs(table_colour(frame->view->coloured, PLAIN), frame->out);
    frame->used += count;
}

void paint_spaces(struct frame *frame, size_t count)
{
    for (; count > 0 && frame->used < frame->view->width; count--) {
        putc(' ', frame->out);
        frame->used++;
    }
}

void paint_right(struct frame *frame, enum colour colour, const char *text, size_t width)
{
    size_t len = text_width(text);

    paint_spaces(frame, len < width ? width - len : 1);
    paint(frame, colour, text);
}

void paint_end_line(struct frame *frame)
{
    /* After the last column the cursor stays on it, so clearing the line would erase a
     * character. */
    if (frame->view->over && frame->used < frame->view->width)
        fputs("\033[K", frame->out);
    putc('\n', frame->out);
    frame->used = 0;
    frame->lines++;
}

char *paint_count(char *out, size_t room, uint64_t number)
{
    char digits[24];
    size_t len, at = 0;
    const char *unit = "";

    if (number >= 10000000000) {
        number /= 1000000;
        unit = "M";
    } else if (number >= 10000000) {
        number /= 1000;
        unit = "k";
    }
    len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (size_t i = 0; i < len && at + 3 < room; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    snprintf(out + at, room - at, "%s", unit);
    return out;
}

char *paint_rate(char *out, size_t room, double rate)
{
    if (rate < 0)
        snprintf(out, room, "-");
    else if (rate < 100)
        snprintf(out, room, "%.1f", rate);
    else
        paint_count(out, room, (uint64_t)rate);
    return out;
}

char *paint_age(char *out, size_t room, double seconds)
{
    if (seconds < 0)
        snprintf(out, room, "-");
    else
        text_put_age(out, room, seconds);
    return out;
}
