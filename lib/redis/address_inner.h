/*
 * address_inner.h: what address.c and address_tls.c share, and nobody else.
 */
#ifndef LATER_ADDRESS_INNER_H
#define LATER_ADDRESS_INNER_H

#include "redis/address.h"

/* Fills *err with `why` and the forms of a URL. Returns -1. */
int later_address_refuse(struct later_error *err, const char *why);

/* --- address_tls.c: what only URLs with TLS have */

/* Takes `user:password@` or `user@` at *text, and moves it past that. Returns 0, or -1 with *err.
 */
int later_address_take_login(struct later_address *address, const char **text,
                             struct later_error *err);

/* Takes what comes after ?, NULL = nothing: that must fit the rest of the address, which is known.
 * It is written over. Returns 0, or -1 with *err. */
int later_address_take_query(struct later_address *address, char *query, struct later_error *err);

#endif
