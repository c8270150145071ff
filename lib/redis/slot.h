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

/* CRC16/XMODEM: polynomial 0x1021, from 0, nothing reflected. Of "123456789" it is 0x31C3. */
uint16_t later_slot_crc16(const char *bytes, size_t len);

/* The slot of a key of len bytes. */
int later_slot_of_key(const char *key, size_t len);

/* The slot of the first key of a command, or LATER_NO_SLOT where it has none. Knows the commands
 * that laterd sends: EVALSHA counts its keys, PING, SUBSCRIBE, SCRIPT and their like have none, and
 * the first argument of any other is its key. The others of its keys are taken to be in the same
 * slot; Redis refuses them if not. cmd is ready to be sent. */
int later_slot_of_command(const struct later_command *cmd);

#endif
