/* laid.c: what operators have laid over the configuration of a queue. */
#include "queues/laid.h"

#include "config/config.h"
#include "text.h"
#include "trouble/say.h"

#include <stdio.h>
#include <string.h>

static bool laid_is_type(const struct later_override *one)
{
    return later_override_type(one) != NULL;
}

static bool laid_is_number(const struct later_override *one)
{
    struct later_numbers numbers;

    return !laid_is_type(one) && later_override_numbers(one->words, &numbers);
}

static void laid_take_those(struct laid *laid, const struct later_reply *reply, double now,
                            bool (*is)(const struct later_override *one))
{
    size_t count = later_reply_count(reply) / 2;

    laid->count = 0;
    for (size_t i = 0; i < count && laid->count < LATER_OVERRIDES_MAX; i++) {
        struct later_override *one = &laid->list[laid->count];

        if (later_override_read(reply, i, now, one) && is(one))
            laid->count++;
    }
}

void laid_take(struct laid *laid, const struct later_reply *reply, double now)
{
    laid_take_those(laid, reply, now, laid_is_type);
}

void laid_take_numbers(struct laid *laid, const struct later_reply *reply, double now)
{
    laid_take_those(laid, reply, now, laid_is_number);
}

static int laid_read_those(struct cli *cli, const struct later_keys *keys, struct laid *laid,
                           bool (*is)(const struct later_override *one), struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    double now;

    laid->count = 0;
    if (cli_clock(cli, &now, err) < 0)
        return -1;
    later_override_ask(&cmd, keys);
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    laid_take_those(laid, reply, now, is);
    later_reply_free(reply);
    return 0;
}

int laid_read(struct cli *cli, const struct later_keys *keys, struct laid *laid,
              struct later_error *err)
{
    return laid_read_those(cli, keys, laid, laid_is_type, err);
}

int laid_read_numbers(struct cli *cli, struct laid *laid, struct later_error *err)
{
    struct later_client *client = cli_client(cli, err);
    struct later_keys keys;

    laid->count = 0;
    if (!client)
        return -1;
    later_keys_of_limits(&keys, later_call_prefix(client));
    return laid_read_those(cli, &keys, laid, laid_is_number, err);
}

const struct later_override *laid_of_line(const struct laid *laid, enum later_line_for what,
                                          const char *name, struct later_numbers *numbers)
{
    const struct later_override *found = NULL;
    size_t most = 0;

    for (size_t i = 0; i < laid->count; i++) {
        size_t covers = later_override_covers(laid->list[i].name, what, name);

        if (covers > most && later_override_numbers(laid->list[i].words, numbers)) {
            most = covers;
            found = &laid->list[i];
        }
    }
    return found;
}

const struct later_override *laid_of_type(const struct laid *laid, const char *type)
{
    for (size_t i = 0; i < laid->count; i++) {
        const char *paused = later_override_type(&laid->list[i]);

        if (paused && config_type_matches(paused, type))
            return &laid->list[i];
    }
    return NULL;
}

void laid_json(struct jsonl *json, const struct laid *laid)
{
    jsonl_open(json, "paused_types", '[');
    for (size_t i = 0; i < laid->count; i++) {
        const struct later_override *one = &laid->list[i];

        jsonl_open(json, NULL, '{');
        jsonl_add(json, "type:%s by:%s since:%f until:%f reason:%s", later_override_type(one),
                  text_known(one->who), text_known_time(one->since), text_known_time(one->until),
                  text_known(one->words));
        jsonl_close(json, '}');
    }
    jsonl_close(json, ']');
}

void laid_tell(FILE *out, const char *queue, const struct laid *laid, double now)
{
    for (size_t i = 0; i < laid->count; i++) {
        const struct later_override *one = &laid->list[i];
        char by[LATER_SAY_BY];

        fprintf(out, "%s: the type %s is paused%s%s%s\n", queue, later_override_type(one),
                later_say_by(by, one->who, one->since, one->until, now), one->words[0] ? ": " : "",
                one->words);
    }
}

void laid_tell_numbers(FILE *out, const struct laid *laid, double now)
{
    for (size_t i = 0; i < laid->count; i++) {
        const struct later_override *one = &laid->list[i];
        const char *thing = strchr(one->name, ':');
        bool limit = strncmp(one->name, LATER_OVERRIDE_LIMIT, strlen(LATER_OVERRIDE_LIMIT)) == 0;
        struct later_numbers numbers;
        char by[LATER_SAY_BY];

        later_override_numbers(one->words, &numbers);
        fprintf(out, "%s %s: %u", limit ? "limit" : "max_running", thing ? thing + 1 : "",
                (unsigned)numbers.max);
        if (numbers.per > 0)
            fprintf(out, " in %g s", numbers.per);
        fprintf(out, ", set%s\n", later_say_by(by, one->who, one->since, one->until, now));
    }
}
