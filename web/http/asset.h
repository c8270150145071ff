/*
 * asset.h: the pages, which are compiled into the program, so that no request can reach a file
 * system. embed.sh makes asset_table.c from web/pages/ during the build.
 */
#ifndef LATER_WEB_ASSET_H
#define LATER_WEB_ASSET_H

#include <stddef.h>

struct asset {
    const char *path;                    /* "/app.js" */
    const char *type;                    /* the value of Content-Type */
    const char *tag;                     /* changes with the bytes; in quotes, for ETag */
    const unsigned char *plain, *packed; /* packed: with gzip */
    size_t plain_len, packed_len;
};

extern const struct asset assets[];
extern const size_t asset_count;

/* "/" means "/index.html". Returns NULL if there is none. */
const struct asset *asset_find(const char *path);

#endif
