/*
 * said.h: what programs have said of their types (later_type_says()): attempts, backoff, hooks.
 *
 * It counts where neither the job's document nor the configuration says otherwise. A worker knows
 * what its own programs have said, and forgets it when it ends.
 */
#ifndef LATERD_WORKER_SAID_H
#define LATERD_WORKER_SAID_H

#include "job/document.h"

struct said;

/* Returns NULL without memory. */
struct said *said_new(void);
void said_free(struct said *said);

/* Takes what is said of a type, or of types with a common beginning ("mail.*"): max_attempts,
 * backoff, on_dead and on_done of a JSON object, as documents have them; others are passed over. It
 * takes the place of what was said of this name before. Returns 0, or -1 with *err: LATER_E_DATA,
 * as of later_document_parse(), or LATER_E_LATER if there are 1,000 already. */
int said_take(struct said *said, const char *name, const char *json, size_t len,
              struct later_error *err);

/* What is known of a type: of its own name, else of the longest beginning; NULL: nothing. Only
 * these four of it are of use. Borrowed until the next said_take(). */
const struct later_document *said_find(const struct said *said, const char *type);

#endif
