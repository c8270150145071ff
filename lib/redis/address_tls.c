/* address_tls.c: what only URLs with TLS have: a password, files, a name. */
#include "redis/address_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX "0123456789abcdefABCDEF"

/* Copies len bytes of text into out, with each %XX made the byte that it means. Returns 0, or -1 if
 * they are none or too many, or if one is a control character or no %XX. */
static int copy_plain(char *out, size_t room, const char *text, size_t len)
{
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (byte == '%') {
            char hex[3] = "";

            if (i + 2 >= len || strspn(memcpy(hex, text + i + 1, 2), HEX) != 2)
                return -1;
            byte = (unsigned char)strtoul(hex, NULL, 16);
            i += 2;
        }
        if (byte < ' ' || byte == 127 || used + 1 >= room)
            return -1;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return used > 0 ? 0 : -1;
}

/* The last @ before host and path: rented passwords have been seen with one. */
static const char *end_of_login(const char *text)
{
    return memrchr(text, '@', strcspn(text, "/"));
}

int later_address_take_login(struct later_address *address, const char **text,
                             struct later_error *err)
{
    const char *at = end_of_login(*text), *colon;
    size_t user;

    if (!at)
        return 0;
    colon = memchr(*text, ':', (size_t)(at - *text));
    user = (size_t)((colon ? colon : at) - *text);
    if ((user > 0 || !colon) && copy_plain(address->user, sizeof address->user, *text, user) < 0)
        return later_address_refuse(err, "the user's name is empty, too long or has a wrong %XX");
    if (colon && copy_plain(address->password, sizeof address->password, colon + 1,
                            (size_t)(at - colon - 1)) < 0)
        return later_address_refuse(err, "the password is empty, too long or has a wrong %XX");
    *text = at + 1;
    return 0;
}

/* Takes one `member=value`. Returns 0, or -1 if it is none of ours. */
static int take_member(struct later_address *address, const char *member)
{
    const struct {
        const char *begins;
        char *out;
    } members[] = { { "ca=", address->tls.ca },
                    { "cert=", address->tls.cert },
                    { "key=", address->tls.key },
                    { "name=", address->tls.name } };

    if (address->hosts[0] && strcmp(member, "tls=yes") == 0) {
        address->tls.on = true;
        return 0;
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t len = strlen(members[i].begins);

        if (strncmp(member, members[i].begins, len) == 0 && !members[i].out[0])
            return copy_plain(members[i].out, sizeof address->tls.ca, member + len,
                              strlen(member + len));
    }
    return -1;
}

int later_address_take_query(struct later_address *address, char *query, struct later_error *err)
{
    struct later_address_tls *tls = &address->tls;

    for (char *member; query && (member = strsep(&query, "&"));) {
        if (take_member(address, member) < 0)
            return later_address_refuse(err, "after ? there may be ca=FILE, cert=FILE, key=FILE "
                                             "and name=HOST, each once, with & between them");
    }
    if (!tls->on && (tls->ca[0] || tls->cert[0] || tls->key[0] || tls->name[0]))
        return later_address_refuse(err, "what is after ? needs TLS: rediss://, or tls=yes there");
    if (tls->key[0] && !tls->cert[0])
        return later_address_refuse(err, "key needs cert, whose key it is");
    if (tls->cert[0] && !tls->key[0])
        strcpy(tls->key, tls->cert); /* one file may have both */
    return 0;
}

size_t later_address_takes_password(const char *url)
{
    static const char secure[] = "rediss://";

    return strncmp(url, secure, strlen(secure)) == 0 ? strlen(secure) : 0;
}

void later_address_shown(const char *url, char shown[LATER_URL_SIZE])
{
    const char *at = NULL;
    int len = (int)strcspn(url, strncmp(url, "unix:", 5) == 0 ? "" : "?");
    size_t kind = later_address_takes_password(url);

    if (kind > 0 && (at = end_of_login(url + kind)))
        snprintf(shown, LATER_URL_SIZE, "%.*s%.*s", (int)kind, url, (int)(url + len - at - 1),
                 at + 1);
    else
        snprintf(shown, LATER_URL_SIZE, "%.*s", len, url);
}
