/*
 * record.h: what is kept beside a document: lines `TAG=VALUE` (doc/protocol.md, "Records"). These
 * tags are in use: a c d e f g h i k l m n o p q r s u v are read here; b t w only by scripts.
 */
#ifndef LATER_RECORD_H
#define LATER_RECORD_H

#include <stdbool.h>
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
    const char *checkpoint; /* "": where its next attempt goes on, JSON; borrowed */
    size_t checkpoint_len;
    const char *log; /* "": what its handler has said, a JSON object; borrowed, log_len bytes */
    size_t log_len;
    const char *finished; /* "": of one that is done and kept, its end, a JSON object; borrowed */
    size_t finished_len;
    double unknown_since; /* 0; UNIX time since when nobody has had its type, by its error */
    double first_failed;  /* 0; UNIX time at which it first failed, if its retries end by time */
    double unique_for;    /* 0; seconds for which its id stays taken after it */
    double taken_until;   /* 0; UNIX time until which its id stays taken after it */
    const char *flows;    /* "": the flows it belongs to, with spaces between; borrowed */
    size_t flows_len;
    double since;      /* 0; UNIX time since when it is ready, if its score does not say so */
    const char *group; /* "": whose it is, if places go by groups; borrowed, group_len bytes */
    size_t group_len;
    const char *next; /* "": the job that runs after it, for later_record_next(); borrowed */
    size_t next_len;
    const char *line; /* "": the line in which it waits, or has waited: its kind (LATER_LINE_KINDS),
                       * a space, its name; borrowed, line_len bytes */
    size_t line_len;
    bool is_step;     /* it is a step of a flow: others may want its value */
    const char *flow; /* "": the flow in which it has waited; borrowed, flow_len bytes */
    size_t flow_len;
};

/* The job that was pushed with `again` while another of its id ran. */
struct later_record_next {
    double due;   /* UNIX time */
    char *record; /* owned, record_len bytes */
    size_t record_len;
    char *document; /* in the same memory */
    size_t document_len;
};

/* Reads record->next. Returns 1, and the caller frees next->record; 0 if there is none that could
 * be read; -1 without memory. */
int later_record_next(const struct later_record *record, struct later_record_next *next);

/* Reads a record; an empty one has no tags. Unknown tags, and values that should be numbers and are
 * not, are ignored. */
void later_record_read(struct later_record *record, const char *text, size_t len);

#endif
