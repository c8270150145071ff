/* pages.c: the folder of the slot pages. */
#include "supervisor/pages.h"

#include "log.h"
#include "reservation/value.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who can write to state_dir can put pages of his own in place of ours, and a link in place of the
 * folder would lead elsewhere. */
static int check_folders(const char *state_dir, const char *folder, struct later_error *err)
{
    struct stat st;

    if (stat(state_dir, &st) == 0 && st.st_mode & S_IWOTH)
        return later_fail(err, LATER_E_CONFIG,
                          "state_dir: %s: anybody can write to it (mode %04o): chmod o-w",
                          state_dir, (unsigned)st.st_mode & 07777u);
    if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
        return later_fail(err, LATER_E_CONFIG, "state_dir: %s: not a directory; remove it", folder);
    if (st.st_uid != geteuid())
        return later_fail(
            err, LATER_E_CONFIG,
            "state_dir: %s: belongs to user %u, and this laterd runs as user %u; start "
            "it as that user, or give it a state_dir of its own",
            folder, (unsigned)st.st_uid, (unsigned)geteuid());
    return 0;
}

static int pages_fail(const char *state_dir, struct later_error *err)
{
    return later_fail(err, LATER_E_CONFIG, "state_dir: %s: %s; make it, owned by laterd's user",
                      state_dir, strerror(errno));
}

int pages_may_make(const char *state_dir, struct later_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    bool there = stat(state_dir, &st) == 0;

    snprintf(path, sizeof path, "%s", state_dir);
    if (!there && stat(dirname(path), &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? pages_fail(state_dir, err) : 0;
    errno = ENOTDIR;
    return S_ISDIR(st.st_mode) ? 0 : pages_fail(state_dir, err);
}

int pages_make_folder(const char *state_dir, char *folder, size_t room, struct later_error *err)
{
    snprintf(folder, room, "%s/slots", state_dir);
    if ((mkdir(state_dir, 0750) < 0 && errno != EEXIST) ||
        (mkdir(folder, 0700) < 0 && errno != EEXIST))
        return pages_fail(state_dir, err);
    return check_folders(state_dir, folder, err);
}

/* Is it the file of a job's value? If its page is gone, it is removed too. */
static bool of_page(const char *folder, const char *name)
{
    char page[300], path[800];

    if (!value_is_file(name, page, sizeof page))
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, page);
    if (access(path, F_OK) < 0) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        unlink(path);
    }
    return true;
}

void pages_adopt(const char *folder, struct keeper *keeper)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;

    while (dir && (entry = readdir(dir))) {
        struct later_error err;
        struct slots *slots;
        char path[800];

        if (entry->d_name[0] == '.' || of_page(folder, entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        slots = slots_open(path, &err);
        if (!slots) {
            log_line(LOG_WARN, "%s; removed", err.text);
            unlink(path);
            continue;
        }
        count++;
        keeper_died(keeper, slots, LATER_ENDED_LEFT, "laterd was killed");
    }
    if (dir)
        closedir(dir);
    if (count)
        log_line(LOG_INFO, "an earlier laterd was killed: settling what its %zu workers held",
                 count);
}
