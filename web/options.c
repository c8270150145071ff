/* options.c: the command line of later-web. */
#include "options.h"

#include "later/error.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>

static const char usage[] =
    "usage: later-web [--listen unix:PATH|HOST:PORT] [--read-only] [-c FILE]\n"
    "\n"
    "  --listen WHERE      unix:PATH or HOST:PORT (" LISTEN_DEFAULT ")\n"
    "  --read-only         show everything, change nothing\n"
    "  --host NAME         a name by which browsers reach it, besides localhost and IP\n"
    "                      addresses; may be given up to 16 times\n"
    "  --token-file FILE   its first line is the token for TCP, at least 16 characters\n"
    "                      (a new one at each start, logged as a link)\n"
    "  --operator-token-file FILE, --reader-token-file FILE\n"
    "                      likewise, for those who may do less\n"
    "  --operators GROUP   whose members may act on jobs, over a unix socket\n"
    "  --role-header NAME  the header in which a proxy says reader, operator or admin\n"
    "  --user-header NAME  the header in which a proxy says who it is\n"
    "  --mask NAME         a member of payloads and values that readers do not see;\n"
    "                      may be given up to 16 times\n"
    "  --notify-file FILE  its first line is the URL to which the begin and end of troubles\n"
    "                      are posted: http[s]://HOST[:PORT]/PATH\n"
    "  --tasks-file FILE   keeps what was done here, also when it is started again\n"
    "  -c, --config FILE   where Redis is, as for later(1)\n"
    "  --redis URL         as for later(1)\n"
    "  --prefix PREFIX     as for later(1)\n"
    "  --version, --help\n"
    "\n"
    "It stays in the foreground and logs to standard error. See later-web(8).\n";

static int options_take(struct options *options, int letter, const char *value)
{
    const char **const texts[CHAR_MAX + 1] = {
        ['l'] = &options->listen,
        ['c'] = &options->config,
        ['R'] = &options->redis,
        ['P'] = &options->prefix,
        ['t'] = &options->token_files[ROLE_ADMIN],
        ['o'] = &options->token_files[ROLE_OPERATOR],
        ['d'] = &options->token_files[ROLE_READER],
        ['x'] = &options->guard.role_header,
        ['u'] = &options->user_header,
        ['g'] = &options->operators,
        ['n'] = &options->notify_file,
        ['k'] = &options->tasks_file,
    };

    if (letter == 'r')
        options->guard.read_only = true;
    else if (letter == 'm' && options->mask.count < MASK_MAX)
        options->mask.names[options->mask.count++] = value;
    else if (letter == 'H' && options->guard.host_count < GUARD_HOSTS_MAX)
        options->guard.hosts[options->guard.host_count++] = value;
    else if (texts[letter])
        *texts[letter] = value;
    else
        return LATER_E_USAGE;
    return LATER_OK;
}

int options_parse(struct options *options, int argc, char **argv)
{
    static const struct option table[] = { { "listen", required_argument, NULL, 'l' },
                                           { "read-only", no_argument, NULL, 'r' },
                                           { "host", required_argument, NULL, 'H' },
                                           { "config", required_argument, NULL, 'c' },
                                           { "token-file", required_argument, NULL, 't' },
                                           { "notify-file", required_argument, NULL, 'n' },
                                           { "tasks-file", required_argument, NULL, 'k' },
                                           { "operator-token-file", required_argument, NULL, 'o' },
                                           { "reader-token-file", required_argument, NULL, 'd' },
                                           { "role-header", required_argument, NULL, 'x' },
                                           { "user-header", required_argument, NULL, 'u' },
                                           { "operators", required_argument, NULL, 'g' },
                                           { "mask", required_argument, NULL, 'm' },
                                           { "redis", required_argument, NULL, 'R' },
                                           { "prefix", required_argument, NULL, 'P' },
                                           { "version", no_argument, NULL, 'V' },
                                           { "help", no_argument, NULL, 'h' },
                                           { 0 } };
    int letter, status = LATER_OK;

    *options = (struct options){ .listen = LISTEN_DEFAULT };
    while (status == LATER_OK && (letter = getopt_long(argc, argv, "c:h", table, NULL)) != -1) {
        if (letter == 'V' || letter == 'h')
            return fputs(letter == 'V' ? "later-web " VERSION "\n" : usage, stdout) < 0;
        status = options_take(options, letter, optarg);
    }
    if (status == LATER_OK && optind == argc)
        return -1;
    if (status == LATER_OK)
        fprintf(stderr, "later-web: %s: a word too many\n", argv[optind]);
    fputs(usage, stderr);
    return LATER_E_USAGE;
}
