/* guard.c: decides whether a request is allowed. */
#include "http/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- Host --- */

/* Finds the name in a Host header, without the port and without an IPv6 address's brackets. */
static bool name_of(const char *host, char name[256])
{
    bool brackets = host[0] == '[';
    size_t len = brackets ? strcspn(host, "]") : strcspn(host, ":");
    const char *rest = host + len + (brackets && host[len]);

    if ((brackets && !host[len]) || (*rest && *rest != ':') ||
        (*rest && strspn(rest + 1, "0123456789") != strlen(rest + 1)))
        return false;
    host += brackets;
    len -= brackets;
    if (len == 0 || len >= 256)
        return false;
    memcpy(name, host, len);
    name[len] = '\0';
    return true;
}

/* An address, unlike a name, cannot be made to lead elsewhere. */
static bool guard_is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

bool guard_is_ours(const struct guard *guard, const char *host)
{
    char name[256];

    if (!host || !name_of(host, name))
        return false;
    if (strcasecmp(name, "localhost") == 0 || guard_is_address(name))
        return true;
    for (size_t i = 0; i < guard->host_count; i++) {
        if (strcasecmp(name, guard->hosts[i]) == 0)
            return true;
    }
    return false;
}

/* --- token --- */

/* Are they the same? The time that this takes does not depend on how much they have in common. */
static bool guard_same(const char *token, const char *shown, size_t len)
{
    size_t wanted = strlen(token);
    unsigned char differs = wanted != len;

    for (size_t i = 0; i < wanted; i++)
        differs |= (unsigned char)(token[i] ^ (i < len ? shown[i] : 0));
    return !differs;
}

/* All tokens are compared, so that the time does not tell which one it is. */
static enum role role_by_token(const struct guard *guard, const char *authorization)
{
    enum role role = ROLE_NOBODY;

    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return role;
    for (enum role i = ROLE_READER; i < ROLES; i++) {
        if (guard->tokens[i] &&
            guard_same(guard->tokens[i], authorization + 7, strlen(authorization + 7)))
            role = i;
    }
    return role;
}

enum role guard_role(const struct guard *guard, const struct guard_request *request)
{
    enum role role =
        guard->tokens[ROLE_ADMIN] ? role_by_token(guard, request->authorization) : request->peer;

    if (guard->role_header)
        role = role_least(role, role_of(request->role));
    return guard->read_only ? role_least(role, ROLE_READER) : role;
}

/* --- POST --- */

/* Is the origin "http://HOST" or "https://HOST", where HOST is that of the request? */
static bool is_same_origin(const char *origin, const char *host)
{
    const char *rest = strstr(origin, "://");

    return rest && strcasecmp(rest + 3, host) == 0;
}

static bool is_json(const char *type)
{
    size_t len = type ? strcspn(type, ";") : 0;

    return len == strlen("application/json") && strncasecmp(type, "application/json", len) == 0;
}

static bool is_from_us(const struct guard_request *request)
{
    if (request->site)
        return strcmp(request->site, "same-origin") == 0;
    return request->origin && is_same_origin(request->origin, request->host);
}

/* "same-site" is another port or a sister name of this host: somebody else. "none" is the reader,
 * who typed the address. */
static bool is_from_others(const char *site)
{
    return site && (strcmp(site, "cross-site") == 0 || strcmp(site, "same-site") == 0);
}

int guard_refuses(const struct guard *guard, const struct guard_request *request, const char **why)
{
    enum role role;

    *why = "this host name is not known as ours: open the address, or start later-web with --host "
           "NAME";
    if (!guard_is_ours(guard, request->host))
        return 421;
    *why = "a request from another site";
    if (!request->open && is_from_others(request->site))
        return 403;
    *why = "a request that changes something must come from a page of later-web: header Origin is "
           "missing or "
           "names another site";
    if (request->post && !is_from_us(request))
        return 403;
    *why = "the body must be application/json";
    if (request->post && !is_json(request->type))
        return 415;
    *why =
        request->authorization
            ? "this token is not valid, or no longer: open the link that later-web printed when it "
              "started"
            : "the token is missing: open the link that later-web printed when it started";
    if (request->open)
        return 0;
    role = guard_role(guard, request);
    if (role == ROLE_NOBODY)
        return 401;
    *why = guard->read_only               ? "later-web runs with --read-only"
           : request->needs == ROLE_ADMIN ? "only an admin may do this"
                                          : "you may look but not act";
    return request->post && role < request->needs ? 403 : 0;
}
