/*
 * uncleared.h: a large local variable that is written before it is read.
 *
 * The build clears local variables (-ftrivial-auto-var-init=zero), so that none is read that was
 * not written. Of a buffer of many KiB on a busy way, of which a few bytes are used, that costs
 * more than all the rest: it is marked, where every byte that is read was surely written before.
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
