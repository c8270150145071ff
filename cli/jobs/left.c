/* left.c: what the handler of a done job that is kept gave back. */
#include "jobs/peek.h"

#include "queue/result.h"
#include "text.h"

#include <jansson.h>
#include <math.h>

#define SAME 5e-7 /* seconds: both are written in whole microseconds */

/* When the job that is kept ended, or 0. Its result is of the same moment (scripts/finish.lua). */
static double left_ended(const struct later_seen *seen)
{
    json_t *finished = json_loadb(seen->record.finished, seen->record.finished_len, 0, NULL);
    double at = text_number_member(finished, "at");

    json_decref(finished);
    return at;
}

int left_find(struct cli *cli, const struct later_keys *part, const struct later_seen *seen,
              struct left *left, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_result_seen found;
    char key[LATER_KEY_MAX];
    const char *element;
    bool away = false;
    size_t len;

    *left = (struct left){ 0 };
    if (seen->record.finished_len == 0)
        return 0;
    later_key_result(key, part, seen->id);
    later_command_say(&cmd, "LINDEX %s 0", key);
    left->reply = cli_look(cli, NULL, &cmd, &away, err);
    if (away)
        return -1;
    element = later_reply_text(left->reply, &len);
    if (later_result_read(&found, element, len) && !found.dead &&
        fabs(found.at - left_ended(seen)) < SAME) {
        left->value = found.value;
        left->len = found.value_len;
    }
    return 0;
}

void left_free(struct left *left)
{
    later_reply_free(left->reply);
    *left = (struct left){ 0 };
}
