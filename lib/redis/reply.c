/* reply.c: reading replies; the table of Redis's errors. */
#include "redis/reply_inner.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *word; /* the first of an error */
    enum later_remedy remedy;
} remedies[] = {
    /* @errors error: { "{UPPER}", LATER_REMEDY_{remedy} }, /@ {help} @/ */
    { "ASK", LATER_REMEDY_REROUTE }, /* another node has the slot, for this call */
    { "BUSY", LATER_REMEDY_RETRY }, /* a script runs longer than busy-reply-threshold */
    { "CLUSTERDOWN", LATER_REMEDY_RETRY }, /* no master for the slot at the moment */
    { "CROSSSLOT", LATER_REMEDY_ABANDON }, /* keys of two slots in one call: a fault of ours */
    { "EXECABORT", LATER_REMEDY_RETRY }, /* a command of a transaction was refused */
    { "ERR", LATER_REMEDY_ABANDON }, /* wrong arguments, or a script's own refusal */
    { "LOADING", LATER_REMEDY_RETRY }, /* it reads its file after a start */
    { "MASTERDOWN", LATER_REMEDY_RECONNECT }, /* a replica that has lost its master */
    { "MISCONF", LATER_REMEDY_RETRY }, /* it cannot write to its disk */
    { "MOVED", LATER_REMEDY_REROUTE }, /* another node has the slot */
    { "NOAUTH", LATER_REMEDY_RECONNECT }, /* a password was set meanwhile */
    { "NOPERM", LATER_REMEDY_ABANDON }, /* the ACL lacks a command or a key */
    { "NOREPLICAS", LATER_REMEDY_RETRY }, /* min-replicas-to-write is not met */
    { "NOSCRIPT", LATER_REMEDY_LOAD }, /* it does not have the script */
    { "OOM", LATER_REMEDY_RETRY }, /* maxmemory is reached */
    { "READONLY", LATER_REMEDY_RECONNECT }, /* it has become a replica */
    { "TRYAGAIN", LATER_REMEDY_RETRY }, /* the slot is being moved */
    { "UNBLOCKED", LATER_REMEDY_RECONNECT }, /* its role has changed under a BLPOP */
    { "UNKILLABLE", LATER_REMEDY_RETRY }, /* a script that has written runs for too long */
    { "WRONGPASS", LATER_REMEDY_RECONNECT }, /* the password may be rotated: read it again */
    { "WRONGTYPE", LATER_REMEDY_ABANDON }, /* another program's key has our name */
    /* @end */
};
/* clang-format on */

enum later_remedy later_reply_remedy(const char *text)
{
    size_t len = strcspn(text, " ");

    if (strncmp(text, "ERR max number of clients", 25) == 0)
        return LATER_REMEDY_RECONNECT;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (strlen(remedies[i].word) == len && memcmp(remedies[i].word, text, len) == 0)
            return remedies[i].remedy;
    }
    return LATER_REMEDY_RETRY;
}

bool later_reply_denies(const char *text)
{
    /* clang-format off */
    static const char *const words[] = {
        /* @errors login: "{UPPER} ", */
        "NOAUTH ",
        "WRONGPASS ",
        /* @end */
    };
    /* clang-format on */
    size_t i = 0;

    while (i < sizeof words / sizeof *words && !strstr(text, words[i]))
        i++;
    return i < sizeof words / sizeof *words;
}

bool later_reply_lacks(const char *error)
{
    return strncmp(error, "ERR unknown command", 19) == 0 ||
           strncmp(error, "ERR Unknown Redis command", 25) == 0 ||
           strncmp(error, "ERR Unknown command called", 26) == 0; /* Valkey */
}

bool later_reply_away(const char *text)
{
    /* clang-format off */
    static const char *const words[] = {
        /* @errors soon: "{UPPER}", */
        "CLUSTERDOWN",
        "LOADING",
        "MASTERDOWN",
        "READONLY",
        "TRYAGAIN",
        "UNBLOCKED",
        /* @end */
    };
    /* clang-format on */
    size_t len = strcspn(text, " "), i = 0;

    while (i < sizeof words / sizeof *words &&
           (strlen(words[i]) != len || memcmp(words[i], text, len) != 0))
        i++;
    return i < sizeof words / sizeof *words;
}

void later_reply_cut_script(struct later_reply *reply)
{
    static const char tail[] = " script: ";
    char *at = later_reply_is_error(reply) ? strstr(reply->text, tail) : NULL;

    if (!at || strspn(at + strlen(tail), "0123456789abcdef") != 40)
        return;
    *at = '\0';
    reply->len = (size_t)(at - reply->text);
}

bool later_reply_is_error(const struct later_reply *reply)
{
    return reply && reply->kind == LATER_REPLY_ERROR;
}

bool later_reply_is_nil(const struct later_reply *reply)
{
    return !reply || reply->kind == LATER_REPLY_NIL;
}

size_t later_reply_count(const struct later_reply *reply)
{
    return reply && reply->kind == LATER_REPLY_ARRAY ? reply->len : 0;
}

const struct later_reply *later_reply_at(const struct later_reply *reply, size_t i)
{
    return i < later_reply_count(reply) ? &reply->elements[i] : NULL;
}

const char *later_reply_text(const struct later_reply *reply, size_t *len)
{
    bool has = reply && (reply->kind == LATER_REPLY_TEXT || reply->kind == LATER_REPLY_ERROR);

    if (len)
        *len = has ? reply->len : 0;
    return has ? reply->text : "";
}

const char *later_reply_text_at(const struct later_reply *reply, size_t i)
{
    return later_reply_text(later_reply_at(reply, i), NULL);
}

int64_t later_reply_int(const struct later_reply *reply)
{
    if (reply && reply->kind == LATER_REPLY_INTEGER)
        return reply->integer;
    return strtoll(later_reply_text(reply, NULL), NULL, 10);
}

/* Reads digits at *p, of which up to `most` count, into *number. Returns how many counted. */
static int reply_take_digits(const char **p, int most, double *number)
{
    int count = 0;

    for (; **p >= '0' && **p <= '9'; (*p)++) {
        if (count == most)
            continue;
        *number = *number * 10 + (**p - '0');
        count++;
    }
    return count;
}

/* This does not use strtod(3), which takes the locale's decimal point. Redis writes `1e+20` and
 * `5e-05` if that is shorter. */
double later_reply_seconds(const struct later_reply *reply, double otherwise)
{
    const char *p = later_reply_text(reply, NULL);
    bool minus = *p == '-', down;
    double number = 0, power = 0;
    int decimals = 0;

    if (reply && reply->kind == LATER_REPLY_INTEGER)
        return (double)reply->integer;
    p += minus;
    if (!reply_take_digits(&p, INT_MAX, &number))
        return otherwise;
    if (*p == '.') {
        p++;
        decimals = reply_take_digits(&p, 9, &number);
    }
    if (*p == 'e') {
        down = p[1] == '-';
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        reply_take_digits(&p, 3, &power);
        power = down ? -power : power;
    }
    power -= decimals;
    /* Dividing by a power of ten is exact when multiplying by 0.001 is not. */
    number = power < 0 ? number / pow(10, -power) : number * pow(10, power);
    if (!isfinite(number))
        return otherwise;
    return minus ? -number : number;
}
