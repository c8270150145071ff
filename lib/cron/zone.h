/*
 * zone.h: what clocks show in a time zone.
 *
 * We read the system's time zone files (RFC 8536) ourselves, since glibc has one zone for a whole
 * process and takes an unknown one for UTC. It reads the table of changes, and the rule at the end
 * of the file that holds after the last change. Files that count leap seconds (`right/…`) are
 * refused, since UNIX time does not count them.
 *
 * A zone is a sequence of spans. In each of them, clocks differ from UTC by a fixed time.
 */
#ifndef LATER_ZONE_H
#define LATER_ZONE_H

#include "later/error.h"

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* @schedule option.zone: #define LATER_ZONE_MAX {most} /@ of a name @/ */
#define LATER_ZONE_MAX 64 /* of a name */
/* @end */
/* clang-format on */
#define LATER_ZONES_DIR "/usr/share/zoneinfo"

struct later_zone;

struct later_zone_span {
    int64_t from, to; /* UNIX time; from is in it, to is not; INT64_MIN and INT64_MAX: no end */
    int32_t offset;   /* seconds to add to UNIX time, in [-25 h, 26 h] */
};

/* Opens a zone by its name, `Europe/Berlin`. UTC needs no file. NULL with *err (LATER_E_DATA): no
 * such zone, a bad file, no zone data on this system; LATER_E_SYSTEM: no memory. */
struct later_zone *later_zone_open(const char *name, struct later_error *err);

/* Reads a zone from the bytes of a file, which are not kept. NULL with *err (LATER_E_DATA,
 * LATER_E_SYSTEM). */
struct later_zone *later_zone_read(const void *bytes, size_t len, struct later_error *err);

/* NULL is fine. */
void later_zone_free(struct later_zone *zone);

/* Returns the span with the instant `at`, from the year -10^9 to 10^9. Neighbouring spans may have
 * the same offset. */
struct later_zone_span later_zone_at(const struct later_zone *zone, int64_t at);

#endif
