/*
 * standard.h: standard input, output and error of a program that was started without one of them.
 */
#ifndef LATER_STANDARD_H
#define LATER_STANDARD_H

/* Takes the numbers 0, 1 and 2 if they are free, before anything else is opened: a connection or a
 * file with such a number would get what is printed. Reading and printing fail then as if nobody
 * had taken them; messages for standard error are lost. Returns 0, or -1 without /dev/null: then
 * nothing may be opened. */
int later_standard_take(void);

#endif
