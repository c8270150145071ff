/* plugin_check.c: may this file be loaded, and is what it says about itself sound? */
#include "plugin/plugin_check.h"

#include "job/document.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMBER_END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define LETTERS                  "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS                   "0123456789"

enum {
    PLUGIN_NAME_MAX = 64,
    STRUCT_MAX = 4096, /* no struct of ours will be this large, so a larger one is not ours */
    PLUGIN_MIN = MEMBER_END(struct later_plugin, types),
    TYPE_MIN = MEMBER_END(struct later_type, perform)
};

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Ehdr elf_head;
#else
typedef Elf32_Ehdr elf_head;
#endif

/* Our own ELF header, which the linker provides. A plugin's must agree with it. */
extern const elf_head __ehdr_start __attribute__((visibility("hidden")));

/* Is it our own, and its group ours alone: named as we are, without members? Debian 13 gives each
 * user but root such a group and the umask 0002, so all that they compile can be written by it. */
static bool is_own(const struct stat *st)
{
    char users[4096], groups[4096];
    struct passwd user, *found;
    struct group group, *of;

    return st->st_uid && st->st_uid == geteuid() &&
           getpwuid_r(st->st_uid, &user, users, sizeof users, &found) == 0 && found &&
           st->st_gid == user.pw_gid &&
           getgrgid_r(st->st_gid, &group, groups, sizeof groups, &of) == 0 && of &&
           !group.gr_mem[0] && strcmp(group.gr_name, user.pw_name) == 0;
}

/* Whoever can write the file, or replace it in its directory, runs code as laterd. */
static int check_owner(const char *path, const char *what, const struct stat *st,
                       struct later_error *err)
{
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return later_fail(err, LATER_E_CONFIG,
                          "%s: %s belongs to user %u; it must be root's or that of the user laterd "
                          "runs as (%u): chown it",
                          path, what, (unsigned)st->st_uid, (unsigned)geteuid());
    if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !is_own(st)))
        return later_fail(err, LATER_E_CONFIG,
                          "%s: %s can be written by its group or by others (mode %04o): chmod go-w",
                          path, what, (unsigned)st->st_mode & 07777u);
    return 0;
}

/* Opens the directory that holds the file. Returns a descriptor, or -1 with *err. */
static int open_directory(const char *path, struct later_error *err)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX] = ".";
    struct stat st;
    int fd;

    if (slash && (size_t)(slash - path) >= sizeof dir)
        return later_fail(err, LATER_E_CONFIG, "%s: the path is too long", path);
    if (slash)
        snprintf(dir, sizeof dir, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1 || fstat(fd, &st) == -1) {
        later_fail(err, LATER_E_CONFIG, "%s: the directory: %s", path, strerror(errno));
    } else if (check_owner(path, "its directory", &st, err) == 0) {
        return fd;
    }
    if (fd != -1)
        close(fd);
    return -1;
}

/* The table of sections is the last of a file that a linker has made. Of a file that was cut short,
 * as while it is copied, the dynamic linker would map pages that are not there, and crash. */
static int check_whole(int fd, const elf_head *head, const char *path, struct later_error *err)
{
    uint64_t whole = (uint64_t)head->e_shoff + (uint64_t)head->e_shnum * head->e_shentsize;
    struct stat st;

    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size < whole)
        return later_fail(err, LATER_E_CONFIG,
                          "%s: cut short: it has %llu of %llu bytes; copy it again, to another "
                          "name, and mv it here",
                          path, (unsigned long long)st.st_size, (unsigned long long)whole);
    return 0;
}

static int check_elf(int fd, const char *path, struct later_error *err)
{
    elf_head head;
    ssize_t n = pread(fd, &head, sizeof head, 0);

    if (n == -1)
        return later_fail(err, LATER_E_CONFIG, "%s: %s", path, strerror(errno));
    if ((size_t)n < EI_NIDENT || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return later_fail(err, LATER_E_CONFIG,
                          "%s: not an ELF shared object; build it with cc -shared -fPIC", path);
    if (head.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
        head.e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] || (size_t)n < sizeof head ||
        head.e_machine != __ehdr_start.e_machine)
        return later_fail(err, LATER_E_CONFIG,
                          "%s: an ELF file for another kind of machine; build it for this one",
                          path);
    if (head.e_type != ET_DYN)
        return later_fail(
            err, LATER_E_CONFIG,
            "%s: an ELF file, but not a shared object; build it with cc -shared -fPIC", path);
    return check_whole(fd, &head, path, err);
}

static int check_open_file(int fd, const char *path, struct later_error *err)
{
    struct stat st;

    if (fstat(fd, &st) == -1)
        return later_fail(err, LATER_E_CONFIG, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return later_fail(err, LATER_E_CONFIG, "%s: not a regular file", path);
    if (check_owner(path, "the file", &st, err) != 0)
        return -1;
    return check_elf(fd, path, err);
}

int plugin_check_open(const char *path, struct later_error *err)
{
    const char *slash = strrchr(path, '/');
    int dir = open_directory(path, err), file, fd;

    if (dir == -1)
        return -1;
    /* With O_NONBLOCK, opening a FIFO does not wait for a writer. */
    file = openat(dir, slash ? slash + 1 : path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file == -1) {
        later_fail(err, LATER_E_CONFIG, "%s: %s", path,
                   errno == ELOOP ? "a symbolic link; name the file itself" : strerror(errno));
        close(dir);
        return -1;
    }
    close(dir);
    fd = fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (fd == -1)
        later_fail(err, LATER_E_CONFIG, "%s: %s", path, strerror(errno));
    close(file);
    if (fd != -1 && check_open_file(fd, path, err) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Is it `[a-z0-9_-]{1,64}`? */
static bool is_name(const char *name)
{
    size_t len = strspn(name, LETTERS DIGITS "_-");

    return len >= 1 && len <= PLUGIN_NAME_MAX && name[len] == '\0';
}

/* Is it a type `[A-Za-z0-9_.:-]{1,128}`, or a beginning of one (or none) and a star? */
static bool is_type_name(const char *name)
{
    size_t len = strspn(name, LETTERS CAPITALS DIGITS "_.:-");

    if (len > LATER_TYPE_MAX)
        return false;
    return name[len] == '\0' ? len > 0 : strcmp(name + len, "*") == 0;
}

int plugin_check_copy(struct later_plugin *copy, const struct later_plugin *from, const char *path,
                      struct later_error *err)
{
    if (!from)
        return later_fail(err, LATER_E_CONFIG, "%s: its later_plugin_open() returned NULL", path);
    if (from->api != LATER_API)
        return later_fail(
            err, LATER_E_CONFIG,
            "%s: built for plugin API %u, this laterd has API %u; build it again with "
            "the <later/job.h> of this laterd",
            path, (unsigned)from->api, (unsigned)LATER_API);
    if (from->size < PLUGIN_MIN || from->size > STRUCT_MAX || from->type_size < TYPE_MIN ||
        from->type_size > STRUCT_MAX || from->type_size % sizeof(void *) != 0)
        return later_fail(err, LATER_E_CONFIG,
                          "%s: impossible sizes of its structs (plugin %u, type %u bytes); use "
                          "LATER_PLUGIN() of <later/job.h>",
                          path, (unsigned)from->size, (unsigned)from->type_size);
    memset(copy, 0, sizeof *copy);
    memcpy(copy, from, from->size < sizeof *copy ? from->size : sizeof *copy);
    if (!copy->name || !is_name(copy->name))
        return later_fail(err, LATER_E_CONFIG,
                          "%s: the plugin's name \"%.80s\" is not [a-z0-9_-]{1,64}", path,
                          copy->name ? copy->name : "");
    if (!copy->types)
        return later_fail(err, LATER_E_CONFIG, "%s: plugin %s has no types", path, copy->name);
    return 0;
}

int plugin_check_type(struct later_type *copy, const struct later_plugin *plugin, size_t index,
                      const char *path, struct later_error *err)
{
    size_t size = plugin->type_size;
    const char *from = (const char *)plugin->types + index * size;

    memset(copy, 0, sizeof *copy);
    memcpy(copy, from, size < sizeof *copy ? size : sizeof *copy);
    if (!copy->name)
        return 0;
    if (index >= PLUGIN_TYPES_MAX)
        return later_fail(err, LATER_E_CONFIG,
                          "%s: plugin %s has more than %d types; does its list end with { 0 }?",
                          path, plugin->name, PLUGIN_TYPES_MAX);
    if (!is_type_name(copy->name))
        return later_fail(err, LATER_E_CONFIG,
                          "%s: plugin %s: the type \"%.140s\" is not [A-Za-z0-9_.:-]{1,128}, "
                          "with or without a star at the end",
                          path, plugin->name, copy->name);
    if (!copy->perform)
        return later_fail(err, LATER_E_CONFIG, "%s: plugin %s: type %s has no perform", path,
                          plugin->name, copy->name);
    if (copy->mode != LATER_SERIAL && copy->mode != LATER_EVENT)
        return later_fail(err, LATER_E_CONFIG,
                          "%s: plugin %s: type %s has mode %u; this laterd knows 0 and 1", path,
                          plugin->name, copy->name, (unsigned)copy->mode);
    return 1;
}
