/* resolved.c: a getaddrinfo() for tests. */
#include "resolved.h"

#include <check.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

uint16_t resolved[4];
size_t resolved_count;

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **list)
{
    (void)port;
    ck_assert_int_eq(hints->ai_socktype, SOCK_STREAM);
    *list = NULL;
    if (strcmp(host, "nowhere") == 0)
        return EAI_NONAME;
    for (size_t i = resolved_count; i-- > 0;) {
        struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
        struct sockaddr_in *in = (struct sockaddr_in *)(void *)(info + 1);

        *in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(resolved[i]) };
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        *info = (struct addrinfo){ .ai_family = AF_INET,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_addr = (struct sockaddr *)in,
                                   .ai_addrlen = sizeof *in,
                                   .ai_next = *list };
        *list = info;
    }
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;

        free(list);
        list = next;
    }
}
