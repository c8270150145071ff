/* push.c: `later push` of one job. */
#include "push/push.h"
#include "push/wait.h"

#include "commands.h"
#include "output/jsonl.h"
#include "status/served.h"
#include "client/push.h"
#include "job_options.h"
#include "lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_RESULT 3600 /* seconds to keep the result of a job that is waited for */

/* One job to push. */
struct making {
    struct later_new_job job;
    char *payload; /* from standard input; owned */
    char *backoff; /* owned */
    double wait;   /* seconds; < 0 = do not wait */
};

void push_print_json(const char *queue, const char *id, enum later_push_result how,
                     const char *state, uint64_t line)
{
    static const char *const results[] = { [LATER_IS_PUSHED] = "pushed",
                                           [LATER_IS_KNOWN] = "exists",
                                           [LATER_IS_REPLACED] = "replaced",
                                           [LATER_IS_AGAIN] = "again" };
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s id:%s result:%s", queue, id, results[how]);
    if (*state)
        jsonl_text(&json, "state", state);
    if (line)
        jsonl_int(&json, "line", (int64_t)line);
    jsonl_end(&json);
}

/* Reads all of standard input, at most max bytes, and adds a NUL. */
static char *read_stdin(size_t max, size_t *len, struct later_error *err)
{
    char *bytes = lines_all(STDIN_FILENO, max, len);

    if (!bytes)
        later_fail(err, errno == ENOMEM ? LATER_E_SYSTEM : LATER_E_NONE, "standard input: %s",
                   strerror(errno));
    if (!bytes || *len <= max)
        return bytes;
    later_fail(err, LATER_E_DATA, "payload: longer than %zu bytes" LATER_DOCUMENT_REMEDY, max);
    free(bytes);
    return NULL;
}

static int push_take_payload(struct cli *cli, struct making *making, struct later_error *err)
{
    struct later_new_job *job = &making->job;
    const char *word = cli->args.count > 1 ? cli->args.words[1] : NULL;

    job->text = args_flag(&cli->args, "text");
    if (!word)
        return job->text ? later_fail(err, LATER_E_USAGE, "--text needs a payload") : 0;
    job->payload = word;
    job->payload_len = strlen(word);
    if (strcmp(word, "-") == 0) {
        making->payload = read_stdin(cli->where.document_max, &job->payload_len, err);
        job->payload = making->payload;
    }
    /* White space around JSON is not part of it. A newline would break the document's line. */
    while (job->payload && !job->text && job->payload_len > 0 &&
           strchr(" \t\r\n", job->payload[job->payload_len - 1]))
        job->payload_len--;
    return job->payload ? 0 : -1;
}

/* With --wait a result is kept. It is kept for longer than the wait, so that it can be asked for
 * again. */
static int take_wait(struct cli *cli, struct making *making, struct later_error *err)
{
    making->wait = -1;
    if (!args_text(&cli->args, "wait"))
        return 0;
    making->job.result = WAIT_RESULT;
    return wait_option(cli, "wait", &making->wait, err);
}

/* A name is wrong before Redis is asked. */
static int check_flow(const struct later_new_job *job, struct later_error *err)
{
    if (job->flow && !later_key_queue_valid(job->flow))
        return later_fail(err, LATER_E_USAGE, "--flow: 1 to %d of A-Z a-z 0-9 _ . -",
                          LATER_STEP_MAX);
    if (job->step && !later_key_queue_valid(job->step))
        return later_fail(err, LATER_E_USAGE, "--step: 1 to %d of A-Z a-z 0-9 _ . -",
                          LATER_STEP_MAX);
    return 0;
}

static int take_options(struct cli *cli, struct making *making, struct later_error *err)
{
    struct later_new_job *job = &making->job;

    if (take_wait(cli, making, err) < 0 || job_options_take(cli, job, &making->backoff, err) < 0)
        return -1;
    job->type = cli->args.words[0];
    if (args_text(&cli->args, "then") && job->step && !job->flow)
        return later_fail(err, LATER_E_USAGE, "--step goes with --flow");
    if (check_flow(job, err) < 0)
        return -1;
    if (later_push_goes(job, err) < 0) {
        err->code = LATER_E_USAGE;
        return -1;
    }
    if (job->at > 0 && job->at < (double)time(NULL))
        cli_say(cli, "--at: %.40s has passed: the job is due now", args_text(&cli->args, "at"));
    /* The last push of a debounced job is to run. */
    job->again |= args_text(&cli->args, "debounce") != NULL;
    return push_take_payload(cli, making, err);
}

/* The payload may be text without JSON's quotes: then the message suggests --text. Or it is as
 * JavaScript or YAML have it. */
static void hint_at_text(const struct making *making, struct later_error *err)
{
    const char *payload = making->job.payload;
    struct later_error why = *err;

    if (why.code != LATER_E_DATA || making->job.text || !strstr(why.text, "payload: not JSON"))
        return;
    later_fail(err, why.code, "%.400s; %s", why.text,
               payload && (*payload == '{' || *payload == '[')
                   ? "JSON has names and texts in double quotes, and no comma before } or ]"
                   : "--text makes a string of plain text");
}

static int wait_for(struct cli *cli, const struct making *making, const struct later_pushed *pushed,
                    struct later_error *err)
{
    struct later_end end;
    int status;

    if (later_wait(cli->client, cli_queue(cli), pushed->id, making->wait, &end, err) < 0)
        return -1;
    status = wait_tell(cli, cli_queue(cli), pushed->id, &end);
    later_end_free(&end);
    return status;
}

static int push_push(struct cli *cli, const struct making *making, struct later_error *err)
{
    struct later_error ignored;
    struct later_pushed pushed;

    if (later_push_told(cli->client, cli_queue(cli), &making->job, &pushed, err) < 0) {
        hint_at_text(making, err);
        return -1;
    }
    if (cli->json)
        push_print_json(cli_queue(cli), pushed.id, pushed.how, pushed.state, 0);
    else if (making->wait < 0)
        puts(pushed.id);
    if (pushed.how == LATER_IS_AGAIN)
        cli_say(cli, "runs now; this one is pushed when it ends");
    if (pushed.how == LATER_IS_KNOWN)
        cli_say(cli, "exists (%s)", pushed.state);
    if (making->job.flow && cli->err_terminal)
        cli_say(cli, "flow %s gets more jobs until `later flow close %s`", making->job.flow,
                making->job.flow);
    served_warn(cli, "pushed to", cli_queue(cli));
    if (making->wait >= 0)
        return wait_for(cli, making, &pushed, err);
    /* Only the announcement can fail; the job is pushed. */
    (void)later_call_drain(cli->client, &ignored);
    return LATER_OK;
}

/* All options of the command but these few are of one job. */
static int refuse_beside_file(const struct cli *cli, struct later_error *err)
{
    static const char *const beside[] = { "queue", "replace", "file", "flow",
                                          "open",  "adder",   "home" };

    for (const struct args_option *option = cli->command->options; option->name; option++) {
        bool goes = false;

        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
            goes |= strcmp(option->name, beside[i]) == 0;
        if (!goes && args_text(&cli->args, option->name))
            return later_fail(err, LATER_E_USAGE, "--%s: with --file, each line sets its own",
                              option->name);
    }
    if (cli->args.count > 0)
        return later_fail(err, LATER_E_USAGE, "--file: the lines name the types; leave TYPE out");
    return 0;
}

/* --then says after what the jobs run, and the flow is whole then. */
static int push_then(struct cli *cli, const struct making *making, struct later_error *err)
{
    static const char *const not [] = { "after", "when", "adder", "home", "wait" };
    int ok;

    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        if (args_text(&cli->args, not [i]))
            return later_fail(err, LATER_E_USAGE, "--then and --%s: only one of them%s", not [i],
                              strcmp(not [i], "wait") == 0 ? "; `later flow wait F` waits for all"
                                                           : "");
    }
    ok = push_chain(cli, &making->job, err);
    if (ok < 0)
        hint_at_text(making, err);
    return ok;
}

static int push_run(struct cli *cli, struct later_error *err)
{
    const char *file = args_text(&cli->args, "file"), *flow = args_text(&cli->args, "flow");
    struct making making = { 0 };
    int ok;

    if (args_flag(&cli->args, "open") && (!flow || !file))
        return later_fail(
            err, LATER_E_USAGE,
            "--open goes with --flow and --file; a flow that gets single jobs is open "
            "until `later flow close`");
    if (!flow && file && args_text(&cli->args, "home"))
        return later_fail(err, LATER_E_USAGE, "--home goes with --flow");
    if (flow && args_flag(&cli->args, "replace"))
        return later_fail(err, LATER_E_USAGE, "--flow and --replace: only one of them");
    if (file && refuse_beside_file(cli, err) < 0)
        return -1;
    if (file)
        return flow ? push_flow_file(cli, flow, file, err) : push_file(cli, file, err);
    if (cli->args.count == 0)
        return later_fail(err, LATER_E_USAGE, "TYPE is missing");
    if (!cli_client(cli, err))
        return -1;
    ok = take_options(cli, &making, err);
    if (ok == 0)
        ok = args_text(&cli->args, "then") ? push_then(cli, &making, err)
                                           : push_push(cli, &making, err);
    free(making.payload);
    free(making.backoff);
    return ok;
}

static const struct args_option options[] = {
    { "queue", 'q', "Q", "into this queue (default)" },
    /* clang-format off */
    /* @options document,line,item,tie: { "{dashed}", 0, {argument}, "{help}{default}" }, */
    { "id", 0, "ID", "the same id is the same job (a new one)" },
    { "priority", 0, "N", "-100 to 100, higher first (0)" },
    { "in", 0, "DURATION", "how long until it may run" },
    { "at", 0, "TIME", "not before this time" },
    { "max-attempts", 0, "N", "failed attempts after which it is buried" },
    { "retry-for", 0, "DURATION", "how long after its first failure it is tried again; what fails later is buried" },
    { "timeout", 0, "DURATION", "how long one attempt may run" },
    { "backoff", 0, "WAITS", "wait before each next attempt, or a list of waits" },
    { "expires-at", 0, "TIME", "if it has not begun by then, it is dropped" },
    { "expires-in", 0, "DURATION", "if it has not begun this long from now, it is dropped" },
    { "result", 0, "DURATION", "how long its result is kept" },
    { "lock", 0, "NAME", "it runs only while it holds this lock" },
    { "group", 0, "NAME", "whose job it is: groups share a queue fairly" },
    { "trace", 0, "TEXT", "logged with each line of the job" },
    { "description", 0, "TEXT", "what it is, for people who look at it" },
    { "on-dead", 0, "TYPE", "push a job of this type when it is dead" },
    { "on-done", 0, "TYPE", "push a job of this type when it is done" },
    { "flow", 0, "NAME", "the flow that it belongs to" },
    { "step", 0, "NAME", "its name in the flow" },
    { "after", 0, "A,B", "steps of the flow that it waits for; *: all jobs without *" },
    { "when", 0, "FATE", "how they must end: all done, all ended, or one failed" },
    { "adder", 0, "ID", "the running job of the flow that adds this one to it" },
    { "home", 0, "NAME", "the queue that its flow lies in, if that is another one" },
    { "unique-for", 0, "DURATION", "the id stays taken this long after the job has ended" },
    { "replace", 0, NULL, "replace a job of this id that waits" },
    { "again", 0, NULL, "replace a job of this id that waits; if it runs, run this after it" },
    { "debounce", 0, "DURATION", "begin after this long without another push of the id" },
    { "max-wait", 0, "DURATION", "with debounce: but at the latest this long after the first push" },
    { "throttle", 0, "DURATION", "the id stays taken this long from now, at least until the job ends" },
    /* @end */
    /* clang-format on */
    { "wait", 'w', "[DURATION]",
      "wait until it has ended, at most this long; print its result (kept for 1h)" },
    { "text", 0, NULL, "PAYLOAD is plain text and becomes a JSON string" },
    { "file", 'f', "FILE", "push one document a line; - is standard input" },
    { "then", 0, "TYPE[=JSON]", "a job that runs when this one is done; again: one after that" },
    { "open", 0, NULL, "with --flow and --file: more jobs of it come later" },
    { 0 },
};

const struct command command_push = {
    .name = "push",
    .usage = "TYPE [PAYLOAD|-] [-q Q] [--in DURATION|--at TIME] [--id ID] ... | --file FILE [-q Q]",
    .brief = "Push a job, or a file of them",
    .more =
        "A DURATION is 90, 5m, 2h or 1d; a TIME is UNIX seconds, 2026-01-31T12:00:00Z or "
        "\"tomorrow\n"
        "9:00\"; WAITS are 5 (each time), or 1,10,5m, or JSON: {\"base\": 5, \"max\": 600} "
        "doubles.\n"
        "\n"
        "PAYLOAD is JSON; - reads it from standard input; the default is null. Prints the id. If\n"
        "the id is known, nothing is pushed; that is not a failure.\n"
        "\n"
        "--flow adds it to a flow, a set of jobs that wait for each other by --after. The flow "
        "stays\n"
        "open until `later flow close F`; a running job of it may add to it (--adder, its id) "
        "also\n"
        "then. Each --then adds a job that runs when the one before is done; they are a flow, "
        "closed.\n"
        "\n"
        "With --wait, prints what the handler gave back, like `later wait`. The status is 65 if "
        "the\n"
        "job is dead, 66 if it is gone, 75 if the time is up; the job goes on then.\n"
        "\n"
        "A FILE has one job document per line (NDJSON), each with its type. A line may also have\n"
        "queue, in, at, expires_in, unique_for, debounce, max_wait, throttle and again. Lines "
        "from\n"
        "`later export` work too. Bad lines are named and skipped, the good ones are pushed, and\n"
        "the status is then 65.\n",
    .example = "later push mail.send '{\"to\": \"a@b.c\"}' -q mail --in 5m\n"
               "later push thumbnail '{\"of\": 7}' --wait 30s\n"
               "later push order.pay '{\"of\": 7}' --then order.mail --then order.index\n"
               "later push --file jobs.ndjson\n",
    .options = options,
    .max = 2,
    .run = push_run,
};
