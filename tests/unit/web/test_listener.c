/* test_web_listener.c: which sockets can be listened on; what it does about files, web.sh tests. */
#include "http/listener.h"
#include "tests/unit/unit.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int answer; /* of getnameinfo(), which is not the C library's here */

int getnameinfo(const struct sockaddr *restrict address, socklen_t len, char *restrict host,
                socklen_t host_size, char *restrict port, socklen_t port_size, int flags)
{
    (void)address, (void)len, (void)flags;
    snprintf(host, host_size, "host");
    snprintf(port, port_size, "7");
    return answer;
}

TEST(names_of_clients)
{
    char folder[] = "/tmp/later-listener-XXXXXX", where[64];
    struct listener listener;
    struct later_error err;
    struct stat file;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(where, sizeof where, "unix:%s/socket", folder);
    answer = EAI_FAMILY;
    ck_assert_int_eq(listener_open(&listener, where, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_SYSTEM);
    ck_assert_ptr_nonnull(strstr(err.text, "--listen HOST:PORT"));
    ck_assert_int_lt(stat(where + strlen("unix:"), &file), 0);
    answer = 0;
    ck_assert_int_eq(listener_open(&listener, where, &err), 0);
    ck_assert(listener.is_unix);
    close(listener.fd);
    listener_close(&listener);
    ck_assert_int_eq(rmdir(folder), 0);
}
