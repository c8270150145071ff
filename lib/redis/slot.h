/*
 * slot.h: which of a Redis Cluster's 16,384 slots a key, or a command, belongs to (pure).
 *
 * A slot is CRC16 of the key, or of its hash tag where it has one, mod 16384 (Redis Cluster
 * specification, "Key distribution model" and "Hash tags"; the CRC is XMODEM's, its appendix A).
 */
#ifndef LATER_SLOT_H
#define LATER_SLOT_H

#include "redis/command.h"

#define LATER_SLOTS   16384
#define LATER_NO_SLOT (-1) /* any node will do */

/* CRC16/XMODEM: polynomial 0x1021, initial value 0, nothing reflected. For "123456789" it is
 * 0x31C3. */
uint16_t later_slot_crc16(const char *bytes, size_t len);

/* The slot of a key of len bytes. */
int later_slot_of_key(const char *key, size_t len);

/* Returns the slot of the first key of a command, or LATER_NO_SLOT if it has none. It knows the
 * commands that laterd sends: EVALSHA counts its keys; PING, SUBSCRIBE, SCRIPT and the like have
 * none; the first argument of any other is its key. Other keys must be in the same slot, or Redis
 * refuses the command. cmd is ready to be sent. */
int later_slot_of_command(const struct later_command *cmd);

#endif
