/* role.c: what somebody may do. */
#include "http/role.h"

#include <string.h>

const char *const role_names[ROLES] = { "nobody", "reader", "operator", "admin" };

enum role role_of(const char *name)
{
    for (enum role role = ROLE_OPERATOR; name && role < ROLES; role++) {
        if (strcmp(role_names[role], name) == 0)
            return role;
    }
    return ROLE_READER;
}

enum role role_least(enum role a, enum role b)
{
    return a < b ? a : b;
}
