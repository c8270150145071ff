/* fields.c: reads the records and documents of some jobs. */
#include "jobs/fields.h"

#include "queue/inspect.h"

#include <string.h>

struct asked {
    const struct later_keys *keys;
    const char *const *ids;
    const size_t *lens;
    size_t count;
};

static void fields_spell(struct later_command *cmd, const struct asked *asked, enum later_key hash)
{
    later_inspect_fields(cmd, asked->keys, hash, asked->count);
    for (size_t i = 0; i < asked->count; i++)
        later_command_bytes(cmd, asked->ids[i], asked->lens[i]);
}

/* A done job that is kept has record and document in one field. */
static int read_kept(struct fields *fields, struct cli *cli, const struct asked *asked,
                     struct later_error *err)
{
    struct later_command cmd = { 0 };

    fields_spell(&cmd, asked, LATER_KEY_KEPT);
    fields->documents = cli_call(cli, &cmd, err);
    return fields->documents ? 0 : -1;
}

static void fields_take(void *arg, struct later_answer *answer)
{
    struct later_reply **reply = arg;

    if (answer->outcome == LATER_ANSWERED) {
        *reply = answer->reply;
        answer->reply = NULL;
    }
}

/* The records are asked for first, and not waited for. If their answer fails, they are asked for
 * again, and that also tells why. */
static int read_two(struct fields *fields, struct cli *cli, const struct asked *asked,
                    struct later_error *err)
{
    struct later_command records = { 0 }, documents = { 0 }, again = { 0 };

    fields_spell(&records, asked, LATER_KEY_RECORDS);
    if (later_call_begin(cli->client, &records, fields_take, &fields->records, err) < 0)
        return -1;
    fields_spell(&documents, asked, LATER_KEY_JOBS);
    fields->documents = cli_call(cli, &documents, err);
    if (cli_drain(cli, fields->documents ? 0 : -1, err) < 0)
        return -1;
    if (!fields->records) {
        fields_spell(&again, asked, LATER_KEY_RECORDS);
        fields->records = cli_call(cli, &again, err);
    }
    return fields->records ? 0 : -1;
}

/* Reads the scores if there is an id without a document that may be a document itself. */
static int read_scores(struct fields *fields, struct cli *cli, const struct asked *asked,
                       enum later_key set, struct later_error *err)
{
    struct later_command cmd = { 0 };
    size_t i = 0;

    while (i < asked->count &&
           (asked->ids[i][0] == '{' || !later_reply_is_nil(later_reply_at(fields->documents, i))))
        i++;
    if (i == asked->count || set == LATER_KEY_RESERVED)
        return 0;
    later_inspect_scores(&cmd, asked->keys, set, asked->count);
    for (i = 0; i < asked->count; i++)
        later_command_bytes(&cmd, asked->ids[i], asked->lens[i]);
    fields->scores = cli_call(cli, &cmd, err);
    return fields->scores ? 0 : -1;
}

int fields_read(struct fields *fields, struct cli *cli, const struct later_keys *keys,
                enum later_key set, const char *const *ids, const size_t *lens, size_t count,
                struct later_error *err)
{
    const struct asked asked = { keys, ids, lens, count };

    *fields = (struct fields){ .records = NULL };
    if (set == LATER_KEY_DONE)
        return read_kept(fields, cli, &asked, err);
    if (read_two(fields, cli, &asked, err) == 0 && read_scores(fields, cli, &asked, set, err) == 0)
        return 0;
    fields_free(fields);
    return -1;
}

bool fields_has_member(const struct fields *fields, size_t i, const char *member, const char *score)
{
    return member[0] == '{' ||
           (fields->scores && strcmp(later_reply_text_at(fields->scores, i), score) == 0);
}

void fields_free(struct fields *fields)
{
    later_reply_free(fields->records);
    later_reply_free(fields->documents);
    later_reply_free(fields->scores);
}

size_t fields_bytes(const struct fields *fields)
{
    size_t sum = 0;

    for (size_t i = 0; i < later_reply_count(fields->documents); i++) {
        size_t len;

        later_reply_text(later_reply_at(fields->documents, i), &len);
        sum += len;
    }
    return sum;
}
