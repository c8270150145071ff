/* plugin_table.c: from a job's type to its handler. */
#include "plugin/plugin_table.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a (Fowler, Noll, Vo) goes byte by byte. So while a name is hashed, the hashes of all its
 * beginnings come for free. */
#define FNV_BEGIN 2166136261u
#define FNV_PRIME 16777619u

static uint32_t hash_step(uint32_t hash, char c)
{
    return (hash ^ (unsigned char)c) * FNV_PRIME;
}

void plugin_table_prepare(struct plugin_type *type)
{
    size_t len = strlen(type->name);

    type->pattern = type->name[len - 1] == '*';
    type->len = (uint8_t)(len - type->pattern);
    type->hash = FNV_BEGIN;
    for (size_t i = 0; i < type->len; i++)
        type->hash = hash_step(type->hash, type->name[i]);
}

/* Returns the slot that holds the name, or the empty one where it would go. */
static const struct plugin_type **slot_of(const struct plugin_table *table, uint32_t hash,
                                          const char *name, size_t len, bool pattern)
{
    size_t i = hash & (table->size - 1);
    const struct plugin_type *type;

    while ((type = table->slots[i])) {
        if (type->hash == hash && type->len == len && type->pattern == pattern &&
            memcmp(type->name, name, len) == 0)
            break;
        i = (i + 1) & (table->size - 1);
    }
    return &table->slots[i];
}

const struct plugin_type *plugin_table_same(const struct plugin_table *table,
                                            const struct plugin_type *type)
{
    if (table->count == 0)
        return NULL;
    return *slot_of(table, type->hash, type->name, type->len, type->pattern);
}

static int plugin_table_grow(struct plugin_table *table)
{
    struct plugin_table larger = *table;

    larger.size = table->size ? table->size * 2 : 32;
    larger.slots = calloc(larger.size, sizeof(*larger.slots));
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < table->size; i++) {
        const struct plugin_type *type = table->slots[i];

        if (type)
            *slot_of(&larger, type->hash, type->name, type->len, type->pattern) = type;
    }
    free(table->slots);
    *table = larger;
    return 0;
}

static void add_length(struct plugin_table *table, uint8_t len)
{
    size_t i = 0;

    while (i < table->length_count && table->lengths[i] > len)
        i++;
    if (i < table->length_count && table->lengths[i] == len)
        return;
    memmove(table->lengths + i + 1, table->lengths + i, table->length_count - i);
    table->lengths[i] = len;
    table->length_count++;
}

int plugin_table_add(struct plugin_table *table, const struct plugin_type *types, size_t count)
{
    while ((table->count + count) * 2 > table->size) {
        if (plugin_table_grow(table) != 0)
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct plugin_type *type = &types[i];
        const struct plugin_type **slot =
            slot_of(table, type->hash, type->name, type->len, type->pattern);

        table->count += !*slot;
        *slot = type;
        if (type->pattern)
            add_length(table, type->len);
    }
    return 0;
}

const struct plugin_type *plugin_table_find(const struct plugin_table *table, const char *type)
{
    uint32_t hashes[LATER_TYPE_MAX + 1]; /* of the first n bytes */
    const struct plugin_type *found;
    size_t len;

    if (table->count == 0)
        return NULL;
    hashes[0] = FNV_BEGIN;
    for (len = 0; type[len]; len++) {
        if (len == LATER_TYPE_MAX)
            return NULL;
        hashes[len + 1] = hash_step(hashes[len], type[len]);
    }
    found = *slot_of(table, hashes[len], type, len, false);
    for (size_t i = 0; !found && i < table->length_count; i++) {
        size_t n = table->lengths[i];

        if (n <= len)
            found = *slot_of(table, hashes[n], type, n, true);
    }
    return found;
}

void plugin_table_clear(struct plugin_table *table)
{
    free(table->slots);
    memset(table, 0, sizeof *table);
}
