/*
 * command.h: one Redis command, written straight into wire format.
 *
 * A command is "*N" and then N strings "$len bytes", each line ended by CR LF (Redis protocol
 * specification, RESP2, "Sending commands"). Arguments are copied in, so nothing stays borrowed.
 * The number of arguments is given at the beginning, and exactly that many must follow.
 *
 *     struct later_command cmd = { 0 };
 *     later_command_say(&cmd, "GET %s", key);
 *
 * If memory is out the command becomes `failed`, and is not sent.
 */
#ifndef LATER_COMMAND_H
#define LATER_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct later_script_text;

struct later_command {
    char *data; /* owned */
    size_t len, room;
    size_t missing; /* arguments still to come */
    bool failed;
    const struct later_script_text *script; /* that it calls (script.h); NULL: none */
    size_t told;             /* that script tells of so many ends: later_script_tell() */
    const char *const *more; /* keys behind its own: later_script_more() */
    size_t more_count;
};

/* Starts a command of `count` arguments, with its name, after what cmd holds already: several
 * commands in one buffer are sent together. */
void later_command_begin(struct later_command *cmd, size_t count);

/* Encodes a whole command from words, with a space between each two. A word may be %s, %d, %ju or
 * %f: an argument as later_command_text(), _int() and _seconds() add it, with any spaces. Arguments
 * with NULs cannot be given so. */
void later_command_say(struct later_command *cmd, const char *words, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for its first words: `more` arguments are to follow. */
void later_command_open(struct later_command *cmd, size_t more, const char *words, ...)
    __attribute__((format(printf, 3, 4)));

#define LATER_SECONDS_SIZE 24 /* seconds as text, with the NUL */

/* Writes seconds with six decimals, as scripts take them, whatever the locale. Negative numbers and
 * NaN become 0, and 10^12 is the most. Returns the length. */
size_t later_seconds_spell(char out[LATER_SECONDS_SIZE], double seconds);

/* Adds one argument: len bytes; a C string (or several); a whole number; seconds as above. */
void later_command_bytes(struct later_command *cmd, const char *bytes, size_t len);
void later_command_text(struct later_command *cmd, const char *text);
void later_command_texts(struct later_command *cmd, const char *const *texts, size_t count);
void later_command_int(struct later_command *cmd, int64_t number);
void later_command_seconds(struct later_command *cmd, double seconds);

/* Can it be sent: complete and not failed? */
bool later_command_ready(const struct later_command *cmd);

/* Frees what it holds and zeroes it. */
void later_command_free(struct later_command *cmd);

#endif
