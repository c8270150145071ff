/*
 * resolved.h: what a host's name stands for is set by the test: ports of 127.0.0.1, in order. The
 * library's call of getaddrinfo() finds the function here. "nowhere" is no name.
 */
#ifndef RESOLVED_H
#define RESOLVED_H

#include <stddef.h>
#include <stdint.h>

extern uint16_t resolved[4];
extern size_t resolved_count;

#endif
