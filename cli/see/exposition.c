/* exposition.c: writes metrics as Prometheus reads them. */
#include "see/exposition.h"

#include "base/spell.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* 2^-10, 2^-9 … 2^14. */
static const char *const bounds[] = {
    "0.0009765625", "0.001953125", "0.00390625", "0.0078125", "0.015625", "0.03125", "0.0625",
    "0.125",        "0.25",        "0.5",        "1.0",       "2.0",      "4.0",     "8.0",
    "16.0",         "32.0",        "64.0",       "128.0",     "256.0",    "512.0",   "1024.0",
    "2048.0",       "4096.0",      "8192.0",     "16384.0"
};
#define FIRST_BOUND 0x1p-10

static const char *suffix(enum family_type type)
{
    return type == COUNTER ? "_total" : type == INFO ? "_info" : "";
}

void exposition_family(struct exposition *text, const char *name, enum family_type type,
                       const char *unit, const char *help)
{
    static const char *const words[] = {
        [COUNTER] = "counter", [GAUGE] = "gauge", [HISTOGRAM] = "histogram", [INFO] = "info"
    };
    const char *end = text->openmetrics ? "" : suffix(type);
    const char *word = !text->openmetrics && type == INFO ? "gauge" : words[type];

    text->name = name;
    text->type = type;
    fprintf(text->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end, word);
    if (unit && text->openmetrics)
        fprintf(text->out, "# UNIT %s %s\n", name, unit);
}

/* One line of a sample. There may be tens of thousands, so it is built without printf(). */
struct line {
    char text[1024];
    size_t len;
};

static void exposition_add(struct line *line, const char *text)
{
    line->len += later_spell_text(line->text + line->len, sizeof line->text - line->len, text);
}

static void exposition_escape(struct line *line, const char *value)
{
    for (char c[3] = "\\"; *value; value++) {
        c[1] = *value;
        exposition_add(line, *value == '"' || *value == '\\' ? c : c + 1);
    }
}

static void add_label(struct line *line, const char *before, const char *name, const char *value)
{
    exposition_add(line, before);
    exposition_add(line, name);
    exposition_add(line, "=\"");
    if (strpbrk(value, "\"\\"))
        exposition_escape(line, value);
    else
        exposition_add(line, value);
    exposition_add(line, "\"");
}

/* le: the bound of a bucket, otherwise NULL. */
static void exposition_put(struct exposition *text, const char *end, const char *const *labels,
                           const char *le, const char *value)
{
    struct line line = { .len = 0 };
    const char *before = "{";

    exposition_add(&line, text->name);
    exposition_add(&line, end);
    for (; labels && labels[0]; labels += 2, before = ",")
        add_label(&line, before, labels[0], labels[1]);
    if (le)
        add_label(&line, before, "le", le);
    exposition_add(&line, le || *before == ',' ? "} " : " ");
    exposition_add(&line, value);
    exposition_add(&line, "\n");
    fwrite(line.text, 1, line.len, text->out);
}

static void put_int(struct exposition *text, const char *end, const char *const *labels,
                    const char *le, uint64_t value)
{
    char number[LATER_SPELLED];

    later_spell_number(number, value);
    exposition_put(text, end, labels, le, number);
}

void exposition_int(struct exposition *text, uint64_t value, const char *const *labels)
{
    put_int(text, suffix(text->type), labels, NULL, value);
}

void exposition_real(struct exposition *text, double value, const char *const *labels)
{
    char number[48];

    exposition_put(text, suffix(text->type), labels, NULL,
                   text_put_real(number, sizeof number, value));
}

void exposition_histogram(struct exposition *text, const struct later_histogram *histogram,
                          uint64_t sum, const char *const *labels)
{
    uint64_t count = later_histogram_count(histogram);
    char number[48];

    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        put_int(text, "_bucket", labels, bounds[i],
                later_histogram_within(histogram, ldexp(FIRST_BOUND, (int)i)));
    put_int(text, "_bucket", labels, "+Inf", count);
    exposition_put(text, "_sum", labels, NULL,
                   text_put_real(number, sizeof number, (double)sum / 1e6));
    put_int(text, "_count", labels, NULL, count);
}

void exposition_end(struct exposition *text)
{
    if (text->openmetrics)
        fputs("# EOF\n", text->out);
}
