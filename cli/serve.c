/* serve.c: `later serve` runs many command lines over one connection. */
#include "commands.h"
#include "kept.h"
#include "output/jsonl.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS_MAX 64   /* words of one command line */
#define SAID_MAX  8192 /* bytes of a command's messages that are passed on */

/* --- what a command writes to standard error --- */

/* Puts a file in memory in place of standard error. Returns its descriptor, or -1 with *err. */
static int catch_words(struct later_error *err)
{
    int fd = memfd_create("later serve", MFD_CLOEXEC);

    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        return later_fail(err, LATER_E_SYSTEM, "standard error: no file in memory");
    return fd;
}

/* Returns what was written since the last call, and empties the file. */
static size_t take_words(int fd, char said[SAID_MAX])
{
    ssize_t len = pread(fd, said, SAID_MAX - 1, 0);

    if (ftruncate(fd, 0) < 0 || lseek(STDERR_FILENO, 0, SEEK_SET) < 0 || len < 0)
        len = 0;
    while (len > 0 && said[len - 1] == '\n')
        len--;
    said[len] = '\0';
    return (size_t)len;
}

/* Opens the stream of command lines. Standard input is empty from then on, so that no command reads
 * from it. NULL with *err. */
static FILE *take_input(struct later_error *err)
{
    int lines = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), none = open("/dev/null", O_RDONLY);
    FILE *in = lines >= 0 && none >= 0 && dup2(none, STDIN_FILENO) >= 0 ? fdopen(lines, "r") : NULL;

    if (none > STDIN_FILENO)
        close(none);
    if (!in)
        later_fail(err, LATER_E_SYSTEM, "standard input: no descriptor");
    return in;
}

/* --- one command line --- */

__attribute__((format(printf, 1, 2))) static int usage(const char *format, ...)
{
    va_list args;

    fputs("later serve: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    putc('\n', stderr);
    return LATER_E_USAGE;
}

/* Runs the command as main() would, on the connection that is open. */
static int run_inner(struct cli *inner, struct later_error *err)
{
    int status = cli_check_words(inner, err) < 0 ? -1 : inner->command->run(inner, err);

    if (status >= 0)
        return status;
    cli_say(inner, "%s", err->text);
    return (int)err->code;
}

/* The connection is open, and nobody wants help: of the options of all commands only --json has a
 * meaning in a line. Returns the first other one that was given, or NULL. */
static const char *foreign_option(const struct args *args)
{
    for (const struct args_option *option = global_options; option->name; option++) {
        if (strcmp(option->name, "json") != 0 && args_flag(args, option->name))
            return option->name;
    }
    return NULL;
}

/* argv[0] stands for the program. argv is NULL-terminated. */
static int serve_answer(const struct cli *cli, int argc, char **argv)
{
    struct cli inner = { .where = cli->where, .client = cli->client, .answers = cli->answers };
    struct later_error err = { .code = LATER_E_BUG };
    const char *foreign, *missing;

    inner.command = argc > 1 ? command_find(argv[1], &err) : NULL;
    if (argc > 1 && !inner.command)
        return usage("%s", err.text);
    if (!inner.command || inner.command == cli->command ||
        (inner.command->program && !inner.command->instead))
        return usage("not a command that can be run here");
    if (args_parse(&inner.args, argc, argv, 1, global_options, inner.command->options, false,
                   &err) < 0)
        return usage("%s", err.text);
    foreign = foreign_option(&inner.args);
    if (foreign)
        return usage("--%s is an option of `later serve` itself, not of a line", foreign);
    missing = inner.command->by_hand ? inner.command->by_hand(&inner) : NULL;
    if (missing)
        return usage("%s needs --%s here", inner.command->name, missing);
    inner.json = args_flag(&inner.args, "json");
    if (inner.command == &command_status && args_flag(&inner.args, "lately"))
        inner.kept = cli->kept;
    return run_inner(&inner, &err);
}

/* Fills argv with words borrowed from *line. Returns how many, or -1 if it is not a list of
 * strings. */
static int serve_words_of(const json_t *line, char *argv[WORDS_MAX + 2])
{
    size_t count = json_array_size(line);

    if (!json_is_array(line) || count > WORDS_MAX)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const char *word = json_string_value(json_array_get(line, i));

        if (!word)
            return -1;
        /* args_parse() reorders them but does not write to them. */
        argv[i + 1] = (char *)(uintptr_t)word;
    }
    argv[count + 1] = NULL;
    return (int)count + 1;
}

static int answer_line(const struct cli *cli, const char *text, size_t len)
{
    char later[] = "later", *argv[WORDS_MAX + 2] = { later };
    json_t *line = json_loadb(text, len, 0, NULL); /* refuses NULs in strings */
    int argc = serve_words_of(line, argv);
    int status =
        argc > 0 ? serve_answer(cli, argc, argv) : usage("a line must be a JSON list of strings");

    json_decref(line);
    return status;
}

static void end_answer(int status, int words)
{
    struct jsonl json;
    char said[SAID_MAX];
    size_t len = take_words(words, said);

    putchar('\036');
    jsonl_begin(&json, stdout);
    jsonl_int(&json, "status", status);
    jsonl_bytes(&json, "words", said, len);
    jsonl_end(&json);
}

/* --- the command --- */

static int serve_run(struct cli *cli, struct later_error *err)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    FILE *in;
    int words;

    if (!cli_client(cli, err))
        return -1;
    cli->kept = kept_new();
    cli->answers = in = take_input(err);
    words = in ? catch_words(err) : -1;
    if (words < 0)
        return -1;
    while ((len = getline(&text, &room, in)) > 0) {
        end_answer(answer_line(cli, text, (size_t)len), words);
        if (fflush(stdout) != 0)
            break;
    }
    fclose(in);
    free(text);
    kept_free(cli->kept);
    cli->kept = NULL;
    return LATER_OK;
}

const struct command command_serve = {
    .name = "serve",
    .usage = "",
    .brief = "Answer command lines from standard input, over one connection",
    .more = "A line is a JSON list of words: [\"size\",\"mail\",\"--json\"]. The answer is what "
            "the command\n"
            "prints, then a line that begins with the byte 0x1E: its status, and what it wrote to\n"
            "standard error. Commands that run a program are refused, and in a line the options of "
            "every\n"
            "command but --json: they are options of `later serve` itself. later-web uses this.\n",
    .example = "echo '[\"size\",\"--json\"]' | later serve\n",
    .run = serve_run,
};
