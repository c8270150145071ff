/*
 * config_table.h: one row per option, and everything that can be said from the row alone.
 *
 * Reading (config_read.c), defaults, --print-config (config_print.c), the comparison of two
 * configurations and the tests of etc/laterd.conf and laterd.conf(5) walk this table. To add an
 * option: a member in config.h, a row here, a line in etc/laterd.conf, an item in the manual.
 */
#ifndef LATER_CONFIG_TABLE_H
#define LATER_CONFIG_TABLE_H

#include "config/config.h"

#include <stddef.h>

/* What is stored at the row's offset. */
enum config_kind {
    CONFIG_UINT,   /* uint32_t */
    CONFIG_SIZE,   /* uint64_t */
    CONFIG_REAL,   /* double; whole numbers are taken too */
    CONFIG_STRING, /* char *, owned; NULL where the default is NULL */
    CONFIG_NAME,   /* char[max + 1] */
    CONFIG_CHOICE, /* enum, an unsigned; the n-th of `words` */
    CONFIG_FLAG,   /* bool; false is the first of `words`, true the second */
    CONFIG_MANY    /* a list or group with a reader of its own; nothing at offset */
};

/* The struct that the offset is in. */
enum config_scope {
    CONFIG_IN_TOP,   /* struct config_draft, which begins with a struct config */
    CONFIG_IN_QUEUE, /* struct config_queue: rows of `queues` and of a pool's `queues` */
    CONFIG_IN_POOL,
    CONFIG_IN_TYPE,
    CONFIG_IN_LIMIT,
    CONFIG_IN_GROUP,
    CONFIG_IN_CRON
};

struct config_row {
    const char *path; /* dotted: "redis.url"; of list rows "types.timeout" */
    enum config_kind kind;
    enum config_scope scope;
    bool fixed;   /* cannot change while laterd runs; all others follow HUP */
    bool of_jobs; /* about jobs, whichever host performs them */
    size_t offset;
    double preset, min, max; /* numbers; of CONFIG_NAME max is the longest */
    const char *unit;        /* "seconds", or NULL */
    const char *form;        /* of CONFIG_MANY: "list of groups" */
    const char *words;       /* of a choice: "error|warn|info|debug"; of others NULL */
    const char *text;        /* default of a string or choice; of others their default in words */
    const char *(*check)(const char *value); /* strings: what is wrong with it, or NULL */
    const char *help;                        /* one sentence */
};

extern const struct config_row config_table[];
extern const size_t config_table_count;

/* Where in which file something was set. `file` is borrowed; NULL = nowhere. */
struct config_location {
    const char *file;
    unsigned line;
};

/* Which file, counted from 1, a row of `types` came from, and where. */
struct config_origin {
    struct config_location location;
    unsigned round;
};

struct config_scan;

/* A configuration while it is being read. It owns all its members; config_load() moves `config`
 * out of it when all files are read. */
struct config_draft {
    struct config config;        /* first, so that a row's offset fits both */
    uint32_t workers;            /* of the one pool, if `pools` is not given; 0 = one per core */
    struct config_queue *queues; /* likewise */
    uint32_t queue_count;
    struct config_location *locations; /* one per row of config_table */
    struct config_origin *origin;      /* one per config.types */
    unsigned round;                    /* which file, counted from 1, is being read */
    uint32_t leaf_start;               /* leaves before this one came from earlier files */
    struct config_scan *scan;
    bool alone;    /* no conf.d beside it */
    bool of_where; /* only redis, state_dir and document are read: config_load_where() */
    /* Called for each fault; NULL: reading stops at the first. */
    void (*fault)(const struct later_error *err);
};

/* The row with this path, or NULL. */
const struct config_row *config_row_find(const char *path);

/* Sets every row of a scope at base to its default. Strings are duplicated. Returns 0, or -1
 * without memory. */
int config_preset(enum config_scope scope, void *base);

/* Stores a number, the n-th choice or a flag at the row's place in base. */
void config_store(const struct config_row *row, void *base, double value);

/* Reads it back as a number. */
double config_fetch(const struct config_row *row, const void *base);

/* Frees the strings of a scope at base. */
void config_strings_free(enum config_scope scope, void *base);

/* Is the row's value the same in both? */
bool config_row_equal(const struct config_row *row, const void *a, const void *b);

#endif
