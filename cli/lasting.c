/* lasting.c: who has done something that lasts, and for how long. */
#include "lasting.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* clang-format off */
/* @bounds pause_max: #define {constant} {number} /@ {help} @/ */
#define LASTING_MAX 31536000 /* seconds that what somebody says for a time may last: a year */
/* @end */
/* clang-format on */

void lasting_who(const struct cli *cli, char who[LASTING_WHO])
{
    const char *by = args_text(&cli->args, "by"), *sudo = getenv("SUDO_USER");
    char room[1024];
    struct passwd row, *found = NULL;

    if (!by && getuid() == 0 && sudo)
        by = sudo;
    if (!by && getpwuid_r(getuid(), &row, room, sizeof room, &found) == 0 && found)
        by = row.pw_name;
    snprintf(who, LASTING_WHO, "%s", by ? by : "");
    for (char *c = who; *c; c++)
        *c = *c > ' ' && *c <= '~' ? *c : '_';
}

int lasting_for(const struct cli *cli, double *seconds, struct later_error *err)
{
    if (cli_duration(cli, "for", seconds, err) < 0)
        return -1;
    if (args_text(&cli->args, "for") && !(*seconds >= 0.001 && *seconds <= LASTING_MAX))
        return later_fail(err, LATER_E_USAGE, "--for: a millisecond to a year");
    return 0;
}
