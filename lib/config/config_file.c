/* config_file.c: reads the files and directories of a configuration. */
#include "config/config_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1024 * 1024)

/* Reads `size` bytes of a file and adds a NUL. To be freed; NULL with *why. */
static char *config_file_read_all(int fd, size_t size, const char **why)
{
    char *text = malloc(size + 1);
    size_t len = 0;
    ssize_t got = 1;

    while (text && len < size && got > 0) {
        got = read(fd, text + len, size - len);
        if (got > 0)
            len += (size_t)got;
    }
    if (!text || got < 0) {
        *why = strerror(errno);
        free(text);
        return NULL;
    }
    text[len] = '\0';
    if (strlen(text) < len) {
        *why = "contains a NUL byte; it must be a text file";
        free(text);
        return NULL;
    }
    return text;
}

char *config_file_read(const char *path, const char **why)
{
    struct stat st;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, &st) < 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "not a regular file";
    else if (st.st_mode & S_IWOTH)
        *why = "writable by everyone; chmod o-w it";
    else if (st.st_size > FILE_BYTES_MAX)
        *why = "larger than 1 MiB; is it the right file?";
    else
        text = config_file_read_all(fd, (size_t)st.st_size, why);
    if (fd >= 0)
        close(fd);
    return text;
}

char *config_file_directory(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int is_conf(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

/* By bytes, not by locale, so that the order is the same on every host. */
static int config_file_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static char **join_all(const char *dir, struct dirent **entries, size_t count)
{
    char **paths = calloc(count + 1, sizeof *paths);

    for (size_t i = 0; paths && i < count; i++) {
        if (asprintf(&paths[i], "%s/%s", dir, entries[i]->d_name) < 0) {
            paths[i] = NULL;
            config_file_list_free(paths);
            return NULL;
        }
    }
    return paths;
}

int config_file_list(const char *dir, char ***paths, const char **why)
{
    struct dirent **entries = NULL;
    struct stat st;
    int count;

    *paths = NULL;
    if (stat(dir, &st) < 0) {
        *why = strerror(errno);
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    }
    if (st.st_mode & S_IWOTH) {
        *why = "writable by everyone; chmod o-w it";
        return -1;
    }
    count = scandir(dir, &entries, is_conf, config_file_by_name);
    if (count >= 0)
        *paths = join_all(dir, entries, (size_t)count);
    if (!*paths)
        *why = strerror(errno);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return *paths ? count : -1;
}

void config_file_list_free(char **paths)
{
    for (char **path = paths; path && *path; path++)
        free(*path);
    free(paths);
}
