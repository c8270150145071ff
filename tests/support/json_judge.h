/*
 * json_judge.h: jansson as the judge of lib/job/json.
 */
#ifndef JSON_JUDGE_H
#define JSON_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

/* Do later_json_scan() and jansson say the same of these bytes, and do the members that it finds
 * have the values that jansson sees? Returns NULL, or what differs. The bytes should lie in memory
 * of exactly this length. *taken gets whether they are JSON to both. */
const char *json_judge(const char *bytes, size_t len, bool *taken);

#endif
