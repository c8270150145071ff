/* token.c: the token that is needed over TCP. */
#include "http/token.h"

#include "redis/password.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define RANDOM_BYTES 16

static int token_make(char token[TOKEN_MAX + 1], struct later_error *err)
{
    unsigned char bytes[RANDOM_BYTES];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return later_fail(err, LATER_E_SYSTEM, "no random bytes");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int token_check(const char *token, const char *file, struct later_error *err)
{
    size_t len = strlen(token);

    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)token[i]) && token[i] != '-' && token[i] != '_')
            return later_fail(err, LATER_E_CONFIG,
                              "%.200s: a token is made of letters, digits, - and _", file);
    }
    if (len < TOKEN_MIN || len > TOKEN_MAX)
        return later_fail(err, LATER_E_CONFIG, "%.200s: a token has %d to %d characters", file,
                          TOKEN_MIN, TOKEN_MAX);
    return 0;
}
int token_get(char token[TOKEN_MAX + 1], const char *file, struct later_error *err)
{
    char line[LATER_PASSWORD_MAX];
    int ok;

    if (!file)
        return token_make(token, err);
    if (later_password_read(file, line, LATER_E_CONFIG, err) < 0)
        return -1;
    ok = token_check(line, file, err);
    if (ok == 0)
        strcpy(token, line);
    explicit_bzero(line, sizeof line);
    return ok;
}
