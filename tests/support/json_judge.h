/*
 * json_judge.h: compares lib/job/json with jansson.
 */
#ifndef JSON_JUDGE_H
#define JSON_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

/* Do later_json_scan() and jansson agree on these bytes, and do the members that it finds have the
 * values that jansson sees? Returns NULL, or what differs. The bytes should be in memory of exactly
 * this length. *taken becomes whether both take them as JSON. */
const char *json_judge(const char *bytes, size_t len, bool *taken);

#endif
