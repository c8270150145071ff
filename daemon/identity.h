/*
 * identity.h: a name for the laterd of a state_dir that stays over restarts: the host's and 16
 * random characters, which are kept in the file `identity` there. Two laterds of one host, or two
 * containers with one host name, so have different ones.
 */
#ifndef LATERD_IDENTITY_H
#define LATERD_IDENTITY_H

#include "later/error.h"

#define IDENTITY_SIZE 280

/* Writes HOST:ID. Makes the file if there is none, or if what it has is not an id; call it while
 * nobody else uses the folder (health_open()). Returns 0, or -1 with *err. */
int identity_read(const char *state_dir, const char *host, char identity[IDENTITY_SIZE],
                  struct later_error *err);

#endif
