/* export.c: `later export` prints the jobs of a state as lines that `later push --file` takes. */
#include "commands.h"
#include "base/digest.h"
#include "cron/instant.h"
#include "job/document_line.h"
#include "choose/choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run of the command. */
struct exporting {
    struct cli *cli;
    const char *queue;
    enum later_key set;
    double now; /* Redis's clock */
    bool dry;
    struct pace *pace;
    uint64_t written, left_out;
};

static void export_leave_out(struct exporting *exporting, const char *id, const char *why)
{
    exporting->left_out++;
    cli_say(exporting->cli, "%.200s: left out: %s", id, why);
}

/* --- one job --- */

static int export_write_line(struct exporting *exporting, const struct later_line *line,
                             struct later_error *err)
{
    struct later_error why;
    size_t len;
    char *bytes = later_line_build(line, &len, &why);

    if (!bytes && why.code != LATER_E_DATA)
        return later_fail(err, why.code, "%s", why.text);
    if (!bytes) {
        export_leave_out(exporting, line->item.id, why.text);
        return 0;
    }
    if (!exporting->dry && pace_count(exporting->pace, 1)) {
        fwrite(bytes, 1, len, stdout);
        putchar('\n');
    }
    free(bytes);
    exporting->written += !exporting->pace->stopped;
    if (ferror(stdout))
        return later_fail(err, LATER_E_SYSTEM, "standard output cannot be written");
    return 0;
}

/* Prints a job that is due at `at`; 0 = now. */
static int export_due(struct exporting *exporting, const char *id, const struct later_seen *seen,
                      double at, bool again, struct later_error *err)
{
    double taken = seen->record.taken_until - exporting->now;
    struct later_line line = { .item = { .id = id,
                                         .document = seen->document,
                                         .document_len = seen->document_len,
                                         .priority = seen->record.priority,
                                         .at = at,
                                         .unique_for = seen->record.unique_for,
                                         .throttle = taken > 0 ? taken : 0,
                                         .again = again } };

    later_shard_whole(line.queue, exporting->queue);
    if (at < LATER_INSTANT_MIN && at > 0)
        line.item.at = LATER_INSTANT_MIN; /* push takes nothing earlier */
    if (strlen(id) > LATER_ID_MAX) {
        export_leave_out(exporting, id, "its id is too long to be pushed");
        return 0;
    }
    if (at >= LATER_AT_END) {
        export_leave_out(exporting, id, "it is due at a time that cannot be pushed");
        return 0;
    }
    return export_write_line(exporting, &line, err);
}

/* Prints the job that is to run after another one of its id. Pushed with `again`, it takes the
 * place of that one if that does not run. */
static int export_next(struct exporting *exporting, const char *id,
                       const struct later_record *record, struct later_error *err)
{
    struct later_record_next next;
    struct later_seen seen = { .state = NULL };
    int found = later_record_next(record, &next);

    if (found < 0)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    if (found == 0)
        return 0;
    later_record_read(&seen.record, next.record, next.record_len);
    seen.document = next.document;
    seen.document_len = next.document_len;
    found = export_due(exporting, id, &seen, next.due, true, err);
    free(next.record);
    return found;
}

/* --- all --- */

/* A member that is its own document is printed with the id that it will be adopted under. */
static int export_chosen(void *arg, const struct chosen *chosen, struct later_error *err)
{
    struct exporting *exporting = arg;
    bool delayed = exporting->set == LATER_KEY_DELAYED;
    double at = delayed && chosen->seen->score > 0 ? chosen->seen->score : 0;
    char digest[LATER_DIGEST_SIZE];

    if (chosen->seen->document == chosen->member) {
        later_digest(chosen->member, chosen->len, digest);
        return export_due(exporting, digest, chosen->seen, at, false, err);
    }
    if (export_due(exporting, chosen->member, chosen->seen, at, false, err) < 0)
        return -1;
    return export_next(exporting, chosen->member, &chosen->seen->record, err);
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

static int export_run(struct cli *cli, struct later_error *err)
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
    exporting.now = choice.began;
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
    .usage = "-q Q --state STATE [CONDITIONS] | -A --state STATE [CONDITIONS]",
    .brief = "Write the jobs of a state as lines for `later push --file`",
    .more =
        "Each line has queue, id, the time at which a delayed job is due, how long its id stays\n"
        "taken, priority, and the document, byte for byte. The jobs stay where they are; their\n"
        "attempts and errors are not written. In a queue in use, each job that keeps its state is\n"
        "written once. A dead or done job whose line is pushed runs again. ^C ends it.\n",
    .example = "later export -q mail --state dead >dead.ndjson\nlater push --file dead.ndjson\n"
               "later export -q mail --state delayed --type 'newsletter.*'\n",
    .options = options,
    .run = export_run,
};
