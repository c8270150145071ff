/* reschedule.c: `later edit` with --in, --at or --priority. */
#include "jobs/reschedule.h"

#include "jobs/each.h"
#include "job/document.h"
#include "job/option.h"
#include "moment.h"
#include "queue/inspect.h"

#include <string.h>
#include <time.h>

bool reschedule_is_asked(const struct cli *cli)
{
    return args_text(&cli->args, "in") || args_text(&cli->args, "at") ||
           args_text(&cli->args, "priority");
}

/* Why a job in this state is left alone; NULL: it is not. */
static const char *reschedule_obstacle(const char *state)
{
    if (strcmp(state, "reserved") == 0)
        return "is reserved: it runs, or is about to";
    if (strcmp(state, "dead") == 0)
        return "is dead: `later kick` makes it ready";
    if (strcmp(state, "waiting") == 0)
        return "waits for other jobs of its flow";
    return NULL;
}

static int reschedule(struct cli *cli, const struct later_keys *keys, const char *id,
                      const void *arg, char was[EACH_STATE], struct later_error *err)
{
    struct later_command cmd = { 0 };
    const char *why;

    later_inspect_reschedule(&cmd, keys, id, arg);
    if (each_call(cli, &cmd, was, err) < 0)
        return -1;
    why = reschedule_obstacle(was);
    if (!why)
        return LATER_OK;
    cli_say(cli, "job %s %s; nothing was changed", id, why);
    return LATER_E_LATER;
}

static const struct each_verb reschedule_each = {
    .heading = "CHANGED", .done = "changed", .none = "no job", .fn = reschedule
};

static int reschedule_take(const struct cli *cli, struct later_rescheduled *to,
                           struct later_error *err)
{
    const char *at = args_text(&cli->args, "at");

    to->moves = at || args_text(&cli->args, "in");
    to->ranks = args_text(&cli->args, "priority");
    if (at && args_text(&cli->args, "in"))
        return later_fail(err, LATER_E_USAGE, "--in and --at: only one of them");
    if (args_text(&cli->args, "file"))
        return later_fail(err, LATER_E_USAGE, "--file is for the document: in a call of its own");
    if (at && moment_read(at, "--at", time(NULL), &to->at, err) < 0)
        return -1;
    if (to->at != 0 && later_option_check_time("at", to->at, LATER_AT_END, err) < 0) {
        err->code = LATER_E_USAGE;
        return -1;
    }
    return cli_duration(cli, "in", &to->in, err) < 0 ||
                   cli_number(cli, "priority", -100, 100, &to->priority, err) < 0
               ? -1
               : 0;
}

int reschedule_run(struct cli *cli, struct later_error *err)
{
    struct later_rescheduled to = { 0 };

    return reschedule_take(cli, &to, err) < 0 ? -1 : each_run(cli, &reschedule_each, &to, err);
}
