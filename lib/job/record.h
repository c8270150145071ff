/*
 * record.h: what is kept beside a document: lines `TAG=VALUE` (doc/protocol.md, "Records"). These
 * tags are in use: a c e g h i k p are read here; b d n t u only by scripts.
 */
#ifndef LATER_RECORD_H
#define LATER_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* A record's known tags. The comments give the value of a missing tag. */
struct later_record {
    uint32_t attempts;   /* 0 */
    int32_t crashes;     /* -1: none; 0: a suspect */
    uint32_t interrupts; /* 0; in a row */
    int32_t priority;    /* 0 */
    const char *error;   /* "": why it failed last, a JSON object; borrowed, error_len bytes */
    size_t error_len;
    const char *earlier; /* "": why it failed before, a JSON array; borrowed, earlier_len bytes */
    size_t earlier_len;
    const char *progress; /* "": how far it has come, a JSON object; borrowed, progress_len bytes */
    size_t progress_len;
    const char *finished; /* "": of one that is done and kept, its end, a JSON object; borrowed */
    size_t finished_len;
    double unknown_since; /* 0; UNIX time since when nobody has had its type, by its error */
};

/* Reads a record; an empty one has no tags. Unknown tags, and values that should be numbers and are
 * not, are ignored. */
void later_record_read(struct later_record *record, const char *text, size_t len);

#endif
