/*
 * password.h: a password from a file, which others cannot see as they do a command line or a URL.
 */
#ifndef LATER_PASSWORD_H
#define LATER_PASSWORD_H

#include "later/error.h"

#include <stddef.h>

#define LATER_PASSWORD_MAX 512

/* Reads the first line of the file at path into password. A file that others may read or change is
 * refused. Returns 0, or -1 with *err, whose code the caller gives. The caller wipes it with
 * explicit_bzero(). */
int later_password_read(const char *path, char password[LATER_PASSWORD_MAX], enum later_code code,
                        struct later_error *err);

#endif
