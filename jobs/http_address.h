/*
 * http_address.h: which addresses are private.
 */
#ifndef LATER_JOBS_HTTP_ADDRESS_H
#define LATER_JOBS_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Is the address one that the public network does not route: loopback, private, link-local,
 * multicast, reserved? This includes IPv6 addresses that contain such an IPv4 address, and
 * everything that is neither IPv4 nor IPv6. Pure. */
bool http_address_private(const struct sockaddr *address);

#endif
