/*
 * tls.h: TLS on a connected socket, from OpenSSL, which nothing else uses.
 *
 * The peer's certificate and its name are always checked. Nothing is said to the peer at the end:
 * commands and answers have their own ends, so nobody gains by cutting the connection off, and a
 * process that has inherited a socket leaves it alone.
 *
 * Reading may need writing, and the reverse; and bytes may be left in here when the socket has no
 * more. So the owner asks later_tls_watches() and later_tls_more() beside poll(2).
 */
#ifndef LATER_TLS_H
#define LATER_TLS_H

#include "redis/address.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#define LATER_TLS_WHY 320 /* one line: what is wrong, and what to do */

struct later_tls;

/* For the socket fd, which stays the caller's, does not block, and leads to a host of this name (or
 * of how->name). The files are read now, so that new ones count from the next connection on. NULL
 * with `why` if that fails, or without memory. */
struct later_tls *later_tls_new(const struct later_address_tls *how, const char *host, int fd,
                                char why[LATER_TLS_WHY]);

/* Does not close the socket. NULL is fine. */
void later_tls_free(struct later_tls *tls);

/* Goes on with the handshake: 1 once it is done, 0 if it waits for the socket, -1 with errno, as
 * the next two, if it has failed. */
int later_tls_shake(struct later_tls *tls);

/* As recv(2) and writev(2): bytes; 0 at the end; or -1 with errno, which is EAGAIN, what the socket
 * said, or EPROTO. If less than all was written, the next call must begin with the same bytes. */
ssize_t later_tls_read(struct later_tls *tls, char *bytes, size_t room);
ssize_t later_tls_write(struct later_tls *tls, const struct iovec *pieces, size_t count);

/* Returns why it has failed or ended, if TLS knows that; else "". Valid as long as tls. */
const char *later_tls_why(const struct later_tls *tls);

/* Is the socket to be watched for writing? `writing`: there is something to write. */
bool later_tls_watches(const struct later_tls *tls, bool writing);

/* May there be more to read, though the socket has nothing? */
bool later_tls_more(const struct later_tls *tls);

#endif
