/* test_cron_words.c: expressions in words. */
#include "cron/words.h"

#include "tests/unit/unit.h"

#include <string.h>

TEST(test_words)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "* * * * *", "every minute" },
        { "*/15 * * * *", "every 15 minutes" },
        { "*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49, 56 of every hour" },
        { "0 * * * *", "every hour" },
        { "0 */2 * * *", "every 2 hours" },
        { "5 * * * *", "at minute 5 of every hour" },
        { "5 */6 * * *", "at 00:05, 06:05, 12:05, 18:05" },
        { "5 */4 * * *", "at minute 5 of every 4 hours" },
        { "0 3 * * *", "at 03:00" },
        { "0,30 9,17 * * *", "at 09:00, 09:30, 17:00, 17:30" },
        { "*/15 9-17 * * mon-fri", "every 15 minutes in hours 9 to 17, on Monday to Friday" },
        { "0 8-18 * * *", "every hour in hours 8 to 18" },
        { "0 22-2 * * *", "every hour in hours 0 to 2, 22, 23" },
        { "@daily", "at 00:00" },
        { "@weekly", "at 00:00, on Sunday" },
        { "@yearly", "at 00:00, on day 1, in January" },
        { "@annually", "at 00:00, on day 1, in January" },
        { "@monthly", "at 00:00, on day 1" },
        { "@every 90s", "every 90 seconds" },
        { "@every 1h", "every hour" },
        { "@every 7d", "every 7 days" },
        { "@every 2m30s", "every 150 seconds" },
        { "* * * * * *", "every second" },
        { "*/10 * * * * *", "every 10 seconds" },
        { "30 * * * * *", "at second 30 of every minute" },
        { "0 0 3 * * *", "at 03:00" },
        { "15 0 3 * * *", "at second 15, at 03:00" },
        { "0 3 1,15 * *", "at 03:00, on day 1, 15" },
        { "0 3 13 * fri", "at 03:00, on day 13 or Friday" },
        { "0 3 */2 * fri", "at 03:00, on day 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, "
                           "29, 31, if it is Friday" },
        { "0 3 L * *", "at 03:00, on the last day of the month" },
        { "0 3 L-3 * *", "at 03:00, on 3 days before the last of the month" },
        { "0 3 15W * *", "at 03:00, on the working day nearest to day 15" },
        { "0 3 LW * *", "at 03:00, on the last working day of the month" },
        { "0 3 * * mon#2", "at 03:00, on the second Monday of the month" },
        { "0 3 * * 5L", "at 03:00, on the last Friday of the month" },
        { "0 3 * * mon#-2", "at 03:00, on the second last Monday of the month" },
        { "0 3 * jan,jun-aug *", "at 03:00, in January, June to August" },
        { "TZ=Europe/Berlin 0 3 * * sat,sun", "at 03:00, on Sunday, Saturday" },
    };
    char words[LATER_CRON_WORDS];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct later_expression expr = { .every = 0 };
        struct later_error err;

        ck_assert_msg(later_expression_read(&expr, rows[i].text, &err) == 0, "%s", rows[i].text);
        later_cron_words(words, &expr);
        ck_assert_msg(strcmp(words, rows[i].words) == 0, "%s: %s", rows[i].text, words);
    }
}

/* It is cut where there is no more room. */
TEST(test_long)
{
    struct later_expression expr = { .every = 0 };
    char words[LATER_CRON_WORDS];
    struct later_error err;

    ck_assert(
        later_expression_read(&expr,
                              "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,"
                              "45,47,49,51,53,55,57 1,3,5,7,9,11,13,15,17,19,21,23 "
                              "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29 jan,mar,may,jul,sep,nov "
                              "mon,wed,fri,sun",
                              &err) == 0);
    later_cron_words(words, &expr);
    ck_assert_uint_eq(strlen(words), LATER_CRON_WORDS - 1);
}
