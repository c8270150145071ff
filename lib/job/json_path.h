/*
 * json_path.h: one value deep inside a JSON document, by a path: `payload.user.id`, `payload.0`.
 */
#ifndef LATER_JSON_PATH_H
#define LATER_JSON_PATH_H

#include "job/json.h"

#include <stdbool.h>

#define LATER_PATH_MAX 256 /* bytes of a path */

/* Is this a path? It has names and places in arrays (from 0), with a point between two. A name is
 * printable ASCII without a point, a quote or a backslash. */
bool later_json_path_valid(const char *path);

/* Finds the value at a valid path, and puts its span into `found`, whose name is ignored. False if
 * the bytes are not a JSON object, or have no such value. */
bool later_json_path(const char *bytes, size_t len, const char *path,
                     struct later_json_member *found);

#endif
