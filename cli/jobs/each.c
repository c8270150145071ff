/* each.c: one verb for jobs given by id. */
#include "jobs/each.h"

#include "choose/choose.h"
#include "choose/many.h"
#include "jobs/find.h"
#include "jobs/peek.h"
#include "output/jsonl.h"
#include "whole.h"

#include <stdio.h>
#include <string.h>

/* One run of the command. */
struct each {
    struct cli *cli;
    const struct each_verb *verb;
    const void *arg;
    struct finder finder;
    struct whole whole; /* the queue that was read last; name "" = none yet */
    bool left;          /* some were not acted on */
    struct table table;
};

int each_call(struct cli *cli, struct later_command *cmd, char was[EACH_STATE],
              struct later_error *err)
{
    struct later_reply *reply = cli_call_once(cli, cmd, err);
    const struct later_reply *first = later_reply_count(reply) ? later_reply_at(reply, 0) : reply;

    snprintf(was, EACH_STATE, "%.15s", later_reply_text(first, NULL));
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* Tries one part of the queue after the other. Returns as the verb's function. */
static int each_act(struct each *each, const char *queue, const char *id, char was[EACH_STATE],
                    struct later_error *err)
{
    const struct later_keys *parts[LATER_WHOLE_MAX];
    size_t count;
    int ok = 0;

    if (strcmp(each->whole.name, queue) != 0 && whole_find(each->cli, queue, &each->whole, err) < 0)
        return -1;
    count = whole_parts(&each->whole, id, parts);
    for (size_t i = 0; ok == 0 && !*was && i < count; i++)
        ok = each->verb->fn(each->cli, parts[i], id, each->arg, was, err);
    return ok;
}

static void each_tell(struct each *each, const char *queue, const char *id, const char *was)
{
    const struct each_verb *verb = each->verb;

    if (each->cli->json) {
        jsonl_line(stdout, "queue:%s id:%s result:%s state:%s", queue, id,
                   verb->freed && strcmp(was, "ended") == 0 ? verb->freed : verb->done, was);
    } else if (verb->heading) {
        table_text(&each->table, PLAIN, id);
        table_text(&each->table, PLAIN, was);
    }
}

/* Notes the state of a job that is in another one than the verb takes; "" if it is nowhere. */
static void each_look(struct each *each, const char *id, char is[EACH_STATE])
{
    struct later_error ignored;
    struct peek_found found;

    if (peek_find(each->cli, each->whole.name, id, &found, &ignored) >= 0)
        snprintf(is, EACH_STATE, "%.15s", found.seen.state);
    peek_found_end(&found);
}

/* Says why an id was not acted on, and returns the status for that. */
static int each_leave(struct each *each, const char *id, bool found)
{
    char where[LATER_QUEUE_MAX + 16], is[EACH_STATE] = "";

    each->left = true;
    if (found)
        each_look(each, id, is);
    cli_say(each->cli, "%s %s%s%s%s", each->verb->none, id, find_where(each->cli, where),
            *is ? "; it is " : "", is);
    return each->verb->missing ? each->verb->missing : LATER_E_NONE;
}

static int each_one(struct each *each, const char *id, struct later_error *err)
{
    char was[EACH_STATE] = "";
    later_queue_name queue;
    int found = finder_look(&each->finder, id, queue, err), status = LATER_OK;

    if (found < 0 && err->code == LATER_E_USAGE) {
        cli_say(each->cli, "%s", err->text);
        return LATER_E_USAGE;
    }
    if (found > 0)
        status = each_act(each, queue, id, was, err);
    if (found < 0 || status != LATER_OK)
        return found < 0 ? -1 : status;
    if (!*was)
        return each_leave(each, id, found > 0);
    each_tell(each, queue, id, was);
    return LATER_OK;
}

int each_run(struct cli *cli, const struct each_verb *verb, const void *arg,
             struct later_error *err)
{
    const char *const headings[] = { verb->heading ? verb->heading : "", "WAS", NULL };
    struct each each = { .cli = cli, .verb = verb, .arg = arg };
    int status = finder_begin(&each.finder, cli, verb->find, err);

    cli_table(cli, &each.table, headings);
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = each_one(&each, cli->args.words[i], err);

        status = one != LATER_OK ? one : status;
    }
    table_end(&each.table);
    if (each.left)
        queue_list_warn(cli, args_text(&cli->args, "queue"));
    finder_end(&each.finder);
    return status;
}

int each_or_many_run(struct cli *cli, const struct each_verb *each, const struct many_verb *many,
                     struct later_error *err)
{
    int asked = choose_is_asked(cli, false, err);

    if (asked < 0)
        return -1;
    return asked ? many_run(cli, many, err) : each_run(cli, each, NULL, err);
}
