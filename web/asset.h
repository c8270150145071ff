/*
 * asset.h: the pages, within the program: there is no file system to get lost in. asset_table.c is
 * made of web/pages/ at build, by embed.sh.
 */
#ifndef LATER_WEB_ASSET_H
#define LATER_WEB_ASSET_H

#include <stddef.h>

struct asset {
    const char *path;                    /* "/app.js" */
    const char *type;                    /* what Content-Type says */
    const char *tag;                     /* differs when its bytes do; in quotes, for ETag */
    const unsigned char *plain, *packed; /* packed: by gzip */
    size_t plain_len, packed_len;
};

extern const struct asset assets[];
extern const size_t asset_count;

/* "/" is "/index.html". NULL = there is none. */
const struct asset *asset_find(const char *path);

#endif
