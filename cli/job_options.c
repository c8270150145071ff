/* job_options.c: the options of a job on a command line. */
#include "job_options.h"

#include "job/option.h"
#include "moment.h"
#include "text.h"

#include <time.h>

static int job_options_take_number(const struct cli *cli, const struct later_option *option,
                                   void *to, struct later_error *err)
{
    int64_t number = 0;

    if (cli_number(cli, option->word, (int64_t)option->least, (int64_t)option->most, &number, err) <
        0)
        return -1;
    if (option->kind == LATER_OPTION_WHOLE)
        *(int32_t *)to = (int32_t)number;
    else
        *(uint32_t *)to = (uint32_t)number;
    return 0;
}

static int job_options_take_seconds(const struct cli *cli, const struct later_option *option,
                                    double *to, struct later_error *err)
{
    char what[40];

    if (option->kind == LATER_OPTION_SPAN)
        return cli_positive_duration(cli, option->word, to, err);
    if (option->kind == LATER_OPTION_SECONDS)
        return cli_duration(cli, option->word, to, err);
    snprintf(what, sizeof what, "--%s", option->word);
    if (moment_read(args_text(&cli->args, option->word), what, time(NULL), to, err) < 0)
        return -1;
    /* 0 would mean that it is not set. A job that is pushed at 0 is due now; none expires at 0. */
    if (!option->of_document || later_option_check_time(option->name, *to, option->most, err) == 0)
        return 0;
    err->code = LATER_E_USAGE;
    return -1;
}

/* Takes one that the command line gives. */
static int take_option(const struct cli *cli, const struct later_option *option,
                       struct later_new_job *job, char **backoff, struct later_error *err)
{
    const char *given = args_text(&cli->args, option->word);
    void *to = (char *)job + option->in_job;

    switch (option->kind) {
    case LATER_OPTION_WHOLE:
    case LATER_OPTION_COUNT:
        return job_options_take_number(cli, option, to, err);
    case LATER_OPTION_SECONDS:
    case LATER_OPTION_SPAN:
    case LATER_OPTION_TIME:
        return job_options_take_seconds(cli, option, to, err);
    case LATER_OPTION_FLAG:
        *(int *)to = 1;
        return 0;
    case LATER_OPTION_WAITS:
        given = *backoff = text_backoff(given, err);
        break;
    default:
        break;
    }
    *(const char **)to = given;
    return given ? 0 : -1;
}

int job_options_take(const struct cli *cli, struct later_new_job *job, char **backoff,
                     struct later_error *err)
{
    *backoff = NULL;
    for (const struct args_option *own = cli->command->options; own && own->name; own++) {
        const struct later_option *option = later_option_find(own->name);

        if (option && args_text(&cli->args, own->name) &&
            take_option(cli, option, job, backoff, err) < 0)
            return -1;
    }
    return 0;
}
