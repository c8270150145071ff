/* duration.c: how people write a duration. */
#include "base/duration.h"

#include "base/backoff.h"

#include <stddef.h>
#include <string.h>

/* All digits are read as one whole number, which is then divided once. That is exact to the last
 * bit as long as a double holds the number. Adding tenths, hundredths and so on would change a time
 * of today by a microsecond. */
bool later_duration_real(const char **p, double *number)
{
    const char *start = *p;
    double digits = 0, scale = 1;

    for (; **p >= '0' && **p <= '9'; (*p)++)
        digits = digits * 10 + (**p - '0');
    *number = digits;
    if (*p == start)
        return false;
    if (**p != '.')
        return true;
    for (start = ++*p; **p >= '0' && **p <= '9'; (*p)++) {
        if (digits >= 0x1p53 / 10)
            continue; /* more digits than a double holds */
        digits = digits * 10 + (**p - '0');
        scale *= 10;
    }
    *number = digits / scale;
    return *p > start;
}

static double unit_of(const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) == 0)
            return units[i].seconds;
    }
    return 0;
}

int later_duration(const char *word, const char *what, double *seconds, struct later_error *err)
{
    const char *p = word;
    double number;

    if (!later_duration_real(&p, &number) || unit_of(p) <= 0)
        return later_fail(err, LATER_E_USAGE,
                          "%s: %.40s is not a duration such as 90, 90s, 5m, 2h, 1d or 1.5", what,
                          word);
    *seconds = number * unit_of(p);
    if (!(*seconds <= LATER_DELAY_MAX))
        return later_fail(err, LATER_E_USAGE, "%s: %.40s is longer than ten years", what, word);
    return 0;
}
