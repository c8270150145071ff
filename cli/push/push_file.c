/* push_file.c: `later push --file` pushes many jobs, one per line. */
#include "push/push.h"

#include "client/bulk.h"
#include "job/document_line.h"
#include "push/unpushed.h"
#include "lines.h"
#include "output/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE 60 /* seconds that Redis may be away during a file */

/* One file that is being pushed. */
struct filing {
    struct cli *cli;
    struct later_bulk *bulk;
    const char *path;
    struct lines lines;
    struct unpushed unpushed;
    struct progress progress;
    uint64_t line;                     /* the present line */
    uint64_t told[LATER_IS_AGAIN + 1]; /* how many jobs had each result */
    uint64_t refused;
    struct later_error stop; /* code != 0: Redis refuses for good, so the rest is not tried */
    uint64_t stop_line;
};

/* INT or TERM came. A second one ends us at once. */
static volatile sig_atomic_t interrupted;

static void push_file_on_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* Catches it, unless it is ignored, as in the background of a shell. */
static void catch (int signal, struct sigaction *before)
{
    struct sigaction caught = { .sa_handler = push_file_on_signal, .sa_flags = (int)SA_RESETHAND };

    sigaction(signal, NULL, before);
    if (before->sa_handler != SIG_IGN)
        sigaction(signal, &caught, NULL);
}

static void push_file_refuse(struct filing *filing, uint64_t line, const char *why)
{
    filing->refused++;
    progress_hide(&filing->progress);
    cli_say(filing->cli, "line %" PRIu64 ": %s", line, why);
}

static void take_told(void *arg, const struct later_bulk_told *told)
{
    struct filing *filing = arg;

    if (!told->err || told->err->code == LATER_E_DATA)
        unpushed_drop(&filing->unpushed, told->mark);
    if (told->err && told->err->code == LATER_E_DATA) {
        push_file_refuse(filing, told->mark, told->err->text);
    } else if (told->err) {
        filing->refused++;
        if (filing->stop.code == LATER_OK || told->mark < filing->stop_line) {
            filing->stop = *told->err;
            filing->stop_line = told->mark;
        }
    } else {
        filing->told[told->how]++;
        if (filing->cli->json)
            push_print_json(told->queue, told->id, told->how, told->state, told->mark);
        else if (!filing->cli->out_terminal)
            puts(told->id);
    }
}

/* Pushes one line that is not empty. Returns -1 only if the rest need not be tried. */
static int push_line(struct filing *filing, const char *bytes, size_t len, struct later_error *err)
{
    struct later_error why;
    struct later_line line;
    int ok;

    if (later_line_parse(&line, bytes, len, filing->cli->where.document_max, &why) < 0) {
        push_file_refuse(filing, filing->line, why.text);
        return 0;
    }
    if (line.tied) {
        push_file_refuse(filing, filing->line, "flow, step, after: push the file with --flow F");
        later_line_free(&line);
        return 0;
    }
    if (!line.item.id) {
        later_document_id(line.id);
        line.item.id = line.id;
    }
    line.item.replace = args_flag(&filing->cli->args, "replace");
    if (unpushed_add(&filing->unpushed, filing->line) < 0) {
        later_line_free(&line);
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    }
    ok = later_bulk_add(filing->bulk, line.queue[0] ? line.queue : cli_queue(filing->cli),
                        &line.item, filing->line, err);
    later_line_free(&line);
    return ok;
}

static void push_file_trim(const char **bytes, size_t *len)
{
    while (*len > 0 && strchr(" \t\r", **bytes)) {
        (*bytes)++;
        (*len)--;
    }
    while (*len > 0 && strchr(" \t\r", (*bytes)[*len - 1]))
        (*len)--;
}

static int push_lines(struct filing *filing, struct later_error *err)
{
    const char *bytes;
    size_t len;

    while (filing->stop.code == LATER_OK && !interrupted) {
        /* If the input is slow, each line is pushed at once, rather than 500 together. */
        if (lines_would_wait(&filing->lines) && later_bulk_finish(filing->bulk, err) < 0)
            return -1;
        bytes = lines_next(&filing->lines, &len);
        if (!bytes)
            break;
        filing->line++;
        push_file_trim(&bytes, &len);
        if (len > 0 && push_line(filing, bytes, len, err) < 0)
            return -1;
        progress_show(&filing->progress, filing->line, filing->lines.bytes);
    }
    return later_bulk_finish(filing->bulk, err);
}

static void print_sum(const struct filing *filing)
{
    const uint64_t *told = filing->told;

    if (!filing->cli->err_terminal && !filing->refused && !told[LATER_IS_KNOWN] &&
        !told[LATER_IS_AGAIN])
        return;
    if (told[LATER_IS_AGAIN])
        cli_say(filing->cli, "%" PRIu64 " of jobs that run now; they are pushed when those end",
                told[LATER_IS_AGAIN]);
    cli_say(filing->cli,
            "%" PRIu64 " pushed, %" PRIu64 " replaced, %" PRIu64 " existed, %" PRIu64 " refused",
            told[LATER_IS_PUSHED], told[LATER_IS_REPLACED], told[LATER_IS_KNOWN], filing->refused);
}

/* Says how to push the lines that are left and nothing twice. Lines go to several queues and shards
 * at once, so some may be pushed behind one that was not. */
static void print_rest(const struct filing *filing, const char *what)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-";
    bool is_plain = filing->path[0] != '-' && strspn(filing->path, plain) == strlen(filing->path);
    char *script = unpushed_script(&filing->unpushed, filing->line);

    if (script)
        cli_say(filing->cli, "%s: sed -n '%s' %s", what, script, is_plain ? filing->path : "FILE");
    free(script);
}

/* Redis refuses for good. */
static int tell_stop(const struct filing *filing, struct later_error *err)
{
    const struct later_error *stop = &filing->stop;
    uint64_t first;

    if (unpushed_is_tail(&filing->unpushed, filing->line, &first))
        return later_fail(err, stop->code, "line %" PRIu64 " and those behind it: %s", first,
                          stop->text);
    print_rest(filing, "these lines were not pushed");
    return later_fail(err, stop->code, "line %" PRIu64 ": %s", filing->stop_line, stop->text);
}

/* Tells how it ended. Returns as push_file(). */
static int push_file_tell_end(const struct filing *filing, struct later_error *err)
{
    if (filing->stop.code != LATER_OK)
        return tell_stop(filing, err);
    if (filing->lines.failed)
        return later_fail(err, LATER_E_NONE, "%s: line %" PRIu64 ": %s", filing->path,
                          filing->line + 1, strerror(filing->lines.failed));
    if (interrupted) {
        cli_say(filing->cli, "stopped after line %" PRIu64, filing->line);
        return LATER_E_LATER;
    }
    return filing->refused ? LATER_E_DATA : LATER_OK;
}

static int file_all(struct filing *filing, struct later_error *err)
{
    struct later_error ignored;
    int ok;

    filing->bulk = later_bulk_new(filing->cli->client, take_told, filing);
    if (!filing->bulk)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    later_bulk_patience(filing->bulk, PATIENCE);
    ok = push_lines(filing, err);
    later_bulk_free(filing->bulk);
    if (ok == 0)
        (void)later_call_drain(filing->cli->client, &ignored); /* only announcements can fail */
    progress_hide(&filing->progress);
    print_sum(filing);
    if (ok == 0)
        return push_file_tell_end(filing, err);
    print_rest(filing, "these lines may not have been pushed");
    return -1;
}

/* ^C ends it between two lines: all that was sent is waited for, and its ids are printed. */
static int file_until_signal(struct filing *filing, struct later_error *err)
{
    struct sigaction int_before, term_before;
    int status;

    interrupted = 0;
    catch (SIGINT, &int_before);
    catch (SIGTERM, &term_before);
    filing->lines.stop = &interrupted;
    status = file_all(filing, err);
    sigaction(SIGINT, &int_before, NULL);
    sigaction(SIGTERM, &term_before, NULL);
    return status;
}

int push_file(struct cli *cli, const char *path, struct later_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct filing filing = { .cli = cli, .path = path };
    struct later_keys ignored;
    struct stat status;
    int fd, ok;

    /* Redis must be there at the beginning. Later it may be away for a while. */
    if (cli_keys(cli, cli_queue(cli), &ignored, err) < 0 || cli_ping(cli, err) < 0)
        return -1;
    fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0)
        return later_fail(err, LATER_E_NONE, "%s: %s", path, strerror(errno));
    lines_begin(&filing.lines, fd, LATER_LINE_ROOM(cli->where.document_max));
    progress_begin(&filing.progress, cli->err_terminal,
                   S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0);
    ok = file_until_signal(&filing, err);
    lines_end(&filing.lines);
    unpushed_free(&filing.unpushed);
    if (!is_stdin)
        close(fd);
    return ok;
}
