/* export.c: `later export` prints the jobs of a state as lines that `later push --file` takes. */
#include "commands.h"
#include "base/digest.h"
#include "job/document_line.h"
#include "jobs/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run of the command. */
struct exporting {
    struct cli *cli;
    const char *queue;
    enum later_key set;
    bool dry;
    struct pace *pace;
    uint64_t written, left_out;
};

static void leave_out(struct exporting *exporting, const char *id, const char *why)
{
    exporting->left_out++;
    cli_say(exporting->cli, "%.200s: left out: %s", id, why);
}

/* --- one job --- */

static int write_line(struct exporting *exporting, const struct later_line *line,
                      struct later_error *err)
{
    size_t len;
    char *bytes;

    if (exporting->dry) {
        exporting->written++;
        return 0;
    }
    if (!pace_count(exporting->pace, 1))
        return 0;
    bytes = later_line_build(line, &len);
    if (!bytes)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    fwrite(bytes, 1, len, stdout);
    putchar('\n');
    free(bytes);
    exporting->written++;
    if (ferror(stdout))
        return later_fail(err, LATER_E_SYSTEM, "standard output cannot be written");
    return 0;
}

/* Prints a job that has an id. */
static int export_known(struct exporting *exporting, const char *id, const struct later_seen *seen,
                        struct later_error *err)
{
    struct later_line line = { .item = { .id = id,
                                         .document = seen->document,
                                         .document_len = seen->document_len,
                                         .priority = seen->record.priority } };
    double *at = &line.item.at;

    if (strlen(id) > LATER_ID_MAX) {
        leave_out(exporting, id, "its id is too long to be pushed");
        return 0;
    }
    strcpy(line.queue, exporting->queue);
    if (exporting->set == LATER_KEY_DELAYED)
        *at = seen->score > 0 ? seen->score : 0;
    if (*at<LATER_AT_MIN && * at> 0)
        *at = LATER_AT_MIN; /* push takes nothing earlier */
    if (*at >= LATER_AT_END) {
        leave_out(exporting, id, "it is due at a time that cannot be pushed");
        return 0;
    }
    return write_line(exporting, &line, err);
}

/* Prints a member that is its own document, with the id that it will be adopted under. */
static int export_document(struct exporting *exporting, const char *document, size_t len,
                           struct later_error *err)
{
    struct later_seen seen = { .document = document, .document_len = len };
    char id[LATER_DIGEST_SIZE];

    later_digest(document, len, id);
    return export_known(exporting, id, &seen, err);
}

/* --- all --- */

static int export_chosen(void *arg, const struct chosen *chosen, struct later_error *err)
{
    struct exporting *exporting = arg;

    if (chosen->seen->document == chosen->member)
        return export_document(exporting, chosen->member, chosen->len, err);
    return export_known(exporting, chosen->member, chosen->seen, err);
}

static int export_all(struct exporting *exporting, struct choice *choice, struct later_error *err)
{
    struct queue_list list = { 0 };
    int ok = choose_queues(choice, &list, err);

    for (size_t i = 0; ok == 0 && i < list.count && !choice->pace.stopped; i++) {
        exporting->queue = list.names[i];
        ok = choose_in_queue(choice, exporting->queue, &exporting->set, 1, export_chosen, exporting,
                             err);
    }
    queue_list_free(&list);
    progress_hide(&choice->progress);
    return ok;
}

static int run(struct cli *cli, struct later_error *err)
{
    struct exporting exporting = { .cli = cli };
    struct choice choice;
    int64_t rate = 0;
    bool stopped;
    int ok;

    if (choose_state(cli, &exporting.set, err) < 0 ||
        cli_number(cli, "rate", 1, CHOOSE_RATE_MAX, &rate, err) < 0 ||
        choose_begin(&choice, cli, true, (double)rate, err) < 0)
        return -1;
    exporting.dry = args_flag(&cli->args, "dry-run");
    exporting.pace = &choice.pace;
    choice.progress.shown = cli->err_terminal && !cli->out_terminal;
    ok = export_all(&exporting, &choice, err);
    stopped = choice.pace.stopped;
    choose_end(&choice);
    if (ok < 0)
        return -1;
    if (exporting.dry)
        cli_print_count(cli, NULL, NULL, "count", "jobs", exporting.written);
    else if (cli->err_terminal || exporting.left_out || stopped)
        cli_say(cli, "%s%" PRIu64 " exported, %" PRIu64 " left out", stopped ? "stopped: " : "",
                exporting.written, exporting.left_out);
    if (stopped)
        return LATER_E_LATER;
    return exporting.left_out ? LATER_E_DATA : LATER_OK;
}

static const struct args_option options[] = {
    CHOOSE_OPTIONS,
    { "rate", 0, "N", "at most N jobs a second" },
    { "dry-run", 0, NULL, "only say how many" },
    { 0 },
};

const struct command command_export = {
    .name = "export",
    .usage = "Q --state STATE [CONDITIONS] | --all-queues --state STATE [CONDITIONS]",
    .brief = "Write the jobs of a state as lines for `later push --file`",
    .more =
        "Each line has queue, id, the time at which a delayed job is due, priority, and the\n"
        "document, byte for byte. The jobs stay where they are; their attempts and errors are not\n"
        "written. In a queue in use, each job that keeps its state is written once. A dead or "
        "done\n"
        "job whose line is pushed runs again. ^C ends it.\n",
    .example = "later export mail --state dead >dead.ndjson\nlater push --file dead.ndjson\n"
               "later export mail --state delayed --type 'newsletter.*'\n",
    .options = options,
    .max = 1,
    .run = run,
};
