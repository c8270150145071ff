/* main.c: options → configuration → supervisor. */
#include "base/standard.h"
#include "supervisor/checker.h"
#include "config/config.h"
#include "log.h"
#include "worker/perform.h"
#include "plugin/plugin.h"
#include "supervisor/pages.h"
#include "supervisor/supervisor.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: laterd [-c FILE] [-t] [--print-config] [--verbose] [--version]\n"
    "       laterd --describe PLUGIN.so\n"
    "       laterd [-c FILE] --perform PLUGIN.so TYPE < payload\n"
    "\n"
    "  -c, --config FILE   configuration (default " CONFIG_FILE " if it is there)\n"
    "  -t, --test          test the configuration and its plugins, then exit: 0, or 78\n"
    "  --print-config      print the configuration in force\n"
    "  --verbose           log debug lines, too\n"
    "  --describe FILE     show what a plugin holds\n"
    "  --perform FILE TYPE run a handler once, without Redis: 0 done, 75 retry, 65 bury\n"
    "\n"
    "It stays in the foreground and logs to standard error. See laterd(8).\n";

enum action { RUN, TEST, PRINT, DESCRIBE, PERFORM };

struct options {
    enum action action;
    const char *config, *plugin, *type;
    bool verbose;
};

/* The words behind the options. */
static int parse_words(struct options *options, int argc, char **argv)
{
    if (options->action == PERFORM && optind < argc)
        options->type = argv[optind++];
    if (optind < argc)
        fprintf(stderr, "laterd: %s: a word too many\n", argv[optind]);
    else if (options->action == PERFORM && !options->type)
        fprintf(stderr, "laterd: --perform: which TYPE of %s?\n", options->plugin);
    else
        return 0;
    return -1;
}

static int parse(struct options *options, int argc, char **argv)
{
    static const struct option table[] = { { "config", required_argument, NULL, 'c' },
                                           { "test", no_argument, NULL, 't' },
                                           { "print-config", no_argument, NULL, 'p' },
                                           { "verbose", no_argument, NULL, 'v' },
                                           { "describe", required_argument, NULL, 'd' },
                                           { "perform", required_argument, NULL, 'r' },
                                           { "version", no_argument, NULL, 'V' },
                                           { "help", no_argument, NULL, 'h' },
                                           { 0 } };
    static const struct {
        int letter;
        enum action action;
    } actions[] = { { 't', TEST }, { 'p', PRINT }, { 'd', DESCRIBE }, { 'r', PERFORM } };
    int letter;

    while ((letter = getopt_long(argc, argv, "c:thv", table, NULL)) != -1) {
        if (letter == 'c')
            options->config = optarg;
        else if (letter == 'v')
            options->verbose = true;
        else if (letter == 'V' || letter == 'h')
            exit(fputs(letter == 'V' ? "laterd " VERSION "\n" : usage, stdout) < 0);
        else if (letter == '?')
            return -1;
        for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
            if (actions[i].letter == letter)
                options->action = actions[i].action;
        }
        if (letter == 'd' || letter == 'r')
            options->plugin = optarg;
    }
    return parse_words(options, argc, argv);
}

static int main_fail(const struct later_error *err)
{
    if (err->text[0])
        fprintf(stderr, "laterd: %s\n", err->text);
    return (int)err->code;
}

static void tell_fault(const struct later_error *err)
{
    main_fail(err);
}

/* The plugins are not started: their start may open what belongs to the running service. */
static int test(const struct config *config, struct later_error *err)
{
    if (pages_may_make(config->state_dir, err) < 0 || checker_try(config, err) < 0)
        return (int)err->code;
    puts("The configuration is good; its plugins were loaded and configured, but not started; a "
         "reload starts them first.");
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = { .action = RUN };
    struct later_error err = { .code = LATER_OK };
    struct config *config;
    int status = 0;

    if (later_standard_take() < 0)
        return LATER_E_SYSTEM;
    if (parse(&options, argc, argv) < 0) {
        fputs(usage, stderr);
        return LATER_E_USAGE;
    }
    if (options.action == DESCRIBE)
        return plugin_describe(options.plugin, stdout, &err) < 0 ? main_fail(&err) : 0;
    config = config_load_telling(options.config, options.action == TEST ? tell_fault : NULL, &err);
    if (!config)
        return main_fail(&err);
    if (options.action == RUN)
        return supervisor_run(config, options.config, options.verbose);
    if (options.action == PRINT)
        config_print(config, stdout);
    else if (options.action == TEST)
        status = test(config, &err);
    else
        status = perform_once(config, options.plugin, options.type, &err);
    config_free(config);
    return status ? (main_fail(&err), status) : 0;
}
