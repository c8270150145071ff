/*
 * http_address.h: which addresses are private.
 */
#ifndef LATER_JOBS_HTTP_ADDRESS_H
#define LATER_JOBS_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Is the address one that the public network does not route to others' machines: loopback, private,
 * link-local, multicast, reserved? Also those within IPv6 that carry such an IPv4 address. What is
 * neither IPv4 nor IPv6 is. Pure. */
bool http_address_private(const struct sockaddr *address);

#endif
