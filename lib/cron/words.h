/*
 * words.h: says an expression in words. Pure.
 */
#ifndef LATER_CRON_WORDS_H
#define LATER_CRON_WORDS_H

#include "cron/expression.h"

#define LATER_CRON_WORDS 300 /* bytes; what does not fit is cut */

/* Writes "every 15 minutes, on Monday to Friday", without its zone. */
void later_cron_words(char out[LATER_CRON_WORDS], const struct later_expression *expr);

#endif
