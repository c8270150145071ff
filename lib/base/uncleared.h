/*
 * uncleared.h: a large local variable that is written before it is read.
 *
 * The build clears local variables (-ftrivial-auto-var-init=zero), so that none is read
 * uninitialized. For a buffer of many KiB on a hot path, of which a few bytes are used, that costs
 * more than everything else. Mark such a buffer if it is certain that only written bytes are read.
 */
#ifndef LATER_UNCLEARED_H
#define LATER_UNCLEARED_H

#ifdef __has_attribute
#if __has_attribute(uninitialized)
#define LATER_UNCLEARED __attribute__((uninitialized))
#endif
#endif
#ifndef LATER_UNCLEARED
#define LATER_UNCLEARED
#endif

#endif
