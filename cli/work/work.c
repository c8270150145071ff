/* work.c: `later work`: a laterd for one program. */
#include "commands.h"
#include "work/hello.h"
#include "work/private.h"
#include "work/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKERS_MAX  1000  /* programs for a job each */
#define PARALLEL_MAX 10000 /* jobs of a program with --lines */
#define PROGRAMS_MAX 64

/* Which options go together. */
static int work_check_options(const struct cli *cli, struct later_error *err)
{
    const struct args *args = &cli->args;

    if (args_flag(args, "until-empty") && args_text(args, "number"))
        return later_fail(err, LATER_E_USAGE, "--until-empty and -n: only one of them");
    if (!args_flag(args, "lines") &&
        (args_text(args, "type") || args_text(args, "programs") || args_flag(args, "entry")))
        return later_fail(err, LATER_E_USAGE, "--type, --programs and --entry need --lines");
    return 0;
}

static int work_read_options(struct private_laterd *own, struct later_error *err)
{
    struct cli *cli = own->cli;
    int64_t most = own->lines ? PARALLEL_MAX : WORKERS_MAX;

    own->parallel = own->lines ? 0 : 1;
    if (work_check_options(cli, err) < 0 ||
        cli_number(cli, "parallel", 1, most, &own->parallel, err) < 0 ||
        cli_number(cli, "programs", 1, PROGRAMS_MAX, &own->programs, err) < 0 ||
        cli_number(cli, "number", 1, 1000000000, &own->number, err) < 0 ||
        take_lease(cli, &own->lease, err) < 0)
        return -1;
    return cli_positive_duration(cli, "timeout", &own->timeout, err);
}

/* Writes the absolute path of a name with a slash. Links stay: what a venv's python is, its own
   path says. */
static bool work_absolute(const char *name, char path[PATH_MAX])
{
    char here[PATH_MAX] = "";

    if (name[0] != '/' && !getcwd(here, sizeof here))
        return false;
    return snprintf(path, PATH_MAX, "%s%s%s", here, here[0] ? "/" : "", name) < PATH_MAX;
}

/* The configuration wants the program's absolute path. */
static int work_find_program(struct private_laterd *own, struct later_error *err)
{
    const char *name = own->cli->args.program[0];

    if (strchr(name, '/') ? work_absolute(name, own->program) && access(own->program, X_OK) == 0
                          : skeleton_find_program(name, own->program))
        return 0;
    if (strchr(name, '/') && access(name, F_OK) == 0)
        return later_fail(err, LATER_E_NONE, "%.200s may not be executed; chmod +x makes it so",
                          name);
    return later_fail(err, LATER_E_NONE, "%.200s: no such program", name);
}

/* Without --type, a program of handlers says which types it performs. */
static int work_ask_types(struct private_laterd *own, struct later_error *err)
{
    char *const *words = own->cli->args.program;
    char **program;
    size_t count = 0;

    if (!own->lines || args_text(&own->cli->args, "type"))
        return 0;
    while (words[count])
        count++;
    program = calloc(count + 1, sizeof *program);
    if (!program)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    memcpy(program, words, count * sizeof *program);
    program[0] = own->program;
    own->hello = hello_ask(program, (int)own->parallel, err);
    free(program);
    return own->hello ? 0 : -1;
}

/* What the configuration of this host says of jobs. */
static int work_read_rules(struct private_laterd *own, struct later_error *err)
{
    struct where_given given = cli_given(own->cli);

    own->rules = where_config(&given, err);
    return own->rules ? 0 : -1;
}

/* It is for the service, which does not see what is in a home. */
static void work_print_entry(const struct private_laterd *own)
{
    char here[PATH_MAX];

    private_config_entry(own);
    skeleton_tell_hidden(own->cli, own->program);
    if (getcwd(here, sizeof here))
        skeleton_tell_hidden(own->cli, here);
}

static int work_run(struct cli *cli, struct later_error *err)
{
    struct private_laterd own = { .cli = cli, .programs = 1, .signals = -1 };
    int status = LATER_OK;

    own.lines = args_flag(&cli->args, "lines");
    skeleton_look(&own.files, "work");
    if (work_read_options(&own, err) < 0 || work_find_program(&own, err) < 0 ||
        work_read_rules(&own, err) < 0 || work_ask_types(&own, err) < 0)
        status = -1;
    else if (args_flag(&cli->args, "entry"))
        work_print_entry(&own);
    else
        status = private_run(&own, err);
    config_free(own.rules);
    free(own.hello);
    return status;
}

static const struct args_option options[] = {
    { "parallel", 'p', "N", "how many jobs at a time (1)" },
    { "until-empty", 0, NULL, "exit when nothing is ready and nothing runs" },
    { "number", 'n', "N", "exit after N jobs" },
    { "lease", 'l', "DURATION",
      "how long a reservation holds; renewed after a third of that (30)" },
    { "timeout", 't', "DURATION",
      "how long one attempt may run if the job does not say (from laterd's configuration)" },
    { "lines", 0, NULL, "the program stays, and gets many jobs, a line each" },
    { "type", 0, "TYPE", "with --lines: a type that it performs, or 'mail.*' (it says so itself)" },
    { "programs", 0, "N", "with --lines: how many of the program (1)" },
    { "entry", 0, NULL, "with --lines: only print its entry for laterd.conf" },
    { 0 },
};

const struct command command_work = {
    .name = "work",
    .usage = "Q... [-p N] [--until-empty|-n N] [--lines] [options] -- PROGRAM [ARGS]",
    .brief = "Run a program for each job",
    .more =
        "The program gets the job document on standard input, and LATER_ID, LATER_TYPE,\n"
        "LATER_QUEUE and LATER_ATTEMPT in its environment. If it exits with 0, the job is done;\n"
        "with 65, it is buried; with 75, it is given back; otherwise it is tried again later,\n"
        "until its attempts are used up.\n"
        "\n"
        "This is a laterd for as long as the command runs: limits, locks, hooks and all else\n"
        "hold as with any other. Queues are tried in the order given.\n"
        "\n"
        "After TERM, INT or HUP no more jobs are taken, and running ones may finish. A second\n"
        "signal gives them back.\n"
        "\n"
        "With --lines the program is one of handlers (later-job(3), section exec). -p is then how\n"
        "many jobs it gets at once, if it can do that; without it, one.\n",
    .example = "later work mail -p 4 -- ./send-mail\n"
               "later work default --lines -p 50 -- python3 -m laterd tasks:app\n",
    .options = options,
    .min = 1,
    .max = -1,
    .program = true,
    .run = work_run,
};
