/* exposition.c: metrics as Prometheus reads them. */
#include "see/exposition.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>

/* 2^-10, 2^-8 … 2^14. */
static const char *const bounds[] = { "0.0009765625", "0.00390625", "0.015625", "0.0625", "0.25",
                                      "1.0",          "4.0",        "16.0",     "64.0",   "256.0",
                                      "1024.0",       "4096.0",     "16384.0" };
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

/* le: of a bucket, else NULL. */
static void put(struct exposition *text, const char *end, const char *const *labels, const char *le,
                const char *value)
{
    const char *before = "{";

    fprintf(text->out, "%s%s", text->name, end);
    for (; labels && labels[0]; labels += 2) {
        fprintf(text->out, "%s%s=\"%s\"", before, labels[0], labels[1]);
        before = ",";
    }
    if (le)
        fprintf(text->out, "%sle=\"%s\"", before, le);
    fprintf(text->out, "%s %s\n", le || *before == ',' ? "}" : "", value);
}

static void put_int(struct exposition *text, const char *end, const char *const *labels,
                    const char *le, uint64_t value)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, value);
    put(text, end, labels, le, number);
}

void exposition_int(struct exposition *text, uint64_t value, const char *const *labels)
{
    put_int(text, suffix(text->type), labels, NULL, value);
}

void exposition_real(struct exposition *text, double value, const char *const *labels)
{
    char number[48];

    put(text, suffix(text->type), labels, NULL, text_put_real(number, sizeof number, value));
}

void exposition_histogram(struct exposition *text, const struct later_histogram *histogram,
                          uint64_t sum, const char *const *labels)
{
    uint64_t count = later_histogram_count(histogram);
    char number[48];

    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        put_int(text, "_bucket", labels, bounds[i],
                later_histogram_within(histogram, ldexp(FIRST_BOUND, 2 * (int)i)));
    put_int(text, "_bucket", labels, "+Inf", count);
    put(text, "_sum", labels, NULL, text_put_real(number, sizeof number, (double)sum / 1e6));
    put_int(text, "_count", labels, NULL, count);
}

void exposition_end(struct exposition *text)
{
    if (text->openmetrics)
        fputs("# EOF\n", text->out);
}
