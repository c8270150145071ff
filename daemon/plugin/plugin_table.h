/*
 * plugin_table.h: from a job's type to its handler: a hash table over exact names and patterns.
 */
#ifndef LATERD_PLUGIN_TABLE_H
#define LATERD_PLUGIN_TABLE_H

#define LATER_TYPES_ONLY /* laterd is the host: it needs the structs, not the calls of plugins */
#include "job/document.h"
#include "later/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One type of job with its handler. Read only; lives until plugin_set_free(). */
struct plugin_type {
    struct later_type type; /* as the plugin described it; type.name is `name` below */
    const char *plugin;     /* the name of its plugin */
    char name[LATER_TYPE_MAX + 2];
    uint8_t len;  /* of the compared bytes, without the star of a pattern */
    bool pattern; /* the name ends in '*' */
    uint32_t hash;
};

/* Zero it before use. It borrows the types it is given. */
struct plugin_table {
    const struct plugin_type **slots; /* open addressing; a power of two, at most half full */
    size_t size, count;
    uint8_t lengths[LATER_TYPE_MAX + 1]; /* the patterns' lengths, longest first */
    size_t length_count;
};

/* Sets type->len, pattern and hash from its name, which must be valid. */
void plugin_table_prepare(struct plugin_type *type);

/* Finds the type with exactly this name (which may be a pattern), or NULL. */
const struct plugin_type *plugin_table_same(const struct plugin_table *table,
                                            const struct plugin_type *type);

/* Adds prepared types; each takes the place of one with exactly the same name. Returns 0, or -1
 * without memory; then none is added. */
int plugin_table_add(struct plugin_table *table, const struct plugin_type *types, size_t count);

/* Finds the handler for a job's type: the exact name, else the longest pattern, else NULL. */
const struct plugin_type *plugin_table_find(const struct plugin_table *table, const char *type);

void plugin_table_clear(struct plugin_table *table);

#endif
