/* skeleton.c: makes a folder from templates. */
#include "new/skeleton.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPLATE_MAX 65536 /* bytes of a template */
#define WORD_MAX     64    /* bytes of a placeholder */

/* --- where files are --- */

/* Writes dir/name. Returns false if that is too long. */
static bool skeleton_join(char *path, const char *dir, const char *name)
{
    return (size_t)snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX;
}

static bool has_sources(const char *dir)
{
    char path[PATH_MAX];

    return skeleton_join(path, dir, "templates/handler") && access(path, R_OK) == 0;
}

/* Finds the tree that this program was built in, and its sources, to which make leaves a link if
 * they are elsewhere. Returns false if it is installed. */
static bool find_tree(char *top, char *sources)
{
    ssize_t n = readlink("/proc/self/exe", top, PATH_MAX - 1);

    if (n <= 0)
        return false;
    top[n] = '\0';
    for (int i = 0; i < 2; i++) { /* strips "cli/later" */
        char *slash = strrchr(top, '/');

        if (!slash)
            return false;
        *slash = '\0';
    }
    return has_sources(strcpy(sources, top)) ||
           (skeleton_join(sources, top, "source") && has_sources(sources));
}

void skeleton_look(struct skeleton *skeleton, const char *name)
{
    char top[PATH_MAX];

    *skeleton = (struct skeleton){ .name = name };
    if (find_tree(top, skeleton->data) && skeleton_join(skeleton->plugins, top, "jobs") &&
        skeleton_join(skeleton->laterd, top, "daemon/laterd") &&
        skeleton_join(skeleton->include, skeleton->data, "lib"))
        return;
    strcpy(skeleton->data, LATER_DATA_DIR);
    strcpy(skeleton->plugins, LATER_PLUGIN_DIR);
    strcpy(skeleton->laterd, LATER_SBIN_DIR "/laterd");
    strcpy(skeleton->include, LATER_INCLUDE_DIR);
}

static bool folder_of(const struct skeleton *skeleton, const char *template, char *path)
{
    char name[PATH_MAX];

    return skeleton_join(name, "templates", template) && skeleton_join(path, skeleton->data, name);
}

bool skeleton_has(const struct skeleton *skeleton, const char *template)
{
    char path[PATH_MAX];

    return folder_of(skeleton, template, path) && access(path, R_OK) == 0;
}

void skeleton_list(const struct skeleton *skeleton, char *text, size_t n)
{
    struct dirent **entries;
    char path[PATH_MAX];
    size_t len = 0;
    int count =
        folder_of(skeleton, "handler", path) ? scandir(path, &entries, NULL, alphasort) : -1;

    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;

        if (name[0] != '.' && strcmp(name, "common") != 0 && len < n)
            len += (size_t)snprintf(text + len, n - len, "%s%s", len ? ", " : "", name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* --- one file --- */

static bool skeleton_is_hidden(const char *path)
{
    static const char *const hidden[] = { "/home", "/root", "/run/user" };

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        size_t len = strlen(hidden[i]);

        if (strncmp(path, hidden[i], len) == 0 && (path[len] == '/' || !path[len]))
            return true;
    }
    return false;
}

void skeleton_tell_hidden(const struct cli *cli, const char *path)
{
    if (skeleton_is_hidden(path))
        cli_say(cli, "the service cannot see %s; move it, to /srv for example (laterd(8), SANDBOX)",
                path);
}

/* Finds the first one, or the first one that the service sees. */
static bool find_program(const char *name, bool seen, char *path)
{
    const char *at = getenv("PATH");

    for (at = at ? at : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        if ((size_t)snprintf(path, PATH_MAX, "%.*s/%s", (int)strcspn(at, ":"), at, name) <
                PATH_MAX &&
            path[0] == '/' && access(path, X_OK) == 0 && !(seen && skeleton_is_hidden(path)))
            return true;
    }
    return false;
}

bool skeleton_find_program(const char *name, char *path)
{
    return find_program(name, false, path);
}

/* Finds a program, one that the service sees before others: pyenv and nvm have theirs in a home. If
 * it is not there, notes that and returns its path in /usr/bin. */
static void skeleton_program(struct skeleton *skeleton, const char *name, char *path)
{
    if (find_program(name, false, path)) {
        if (!skeleton_is_hidden(path))
            return;
        snprintf(skeleton->hidden, sizeof skeleton->hidden, "%s", path);
        if (find_program(name, true, path))
            snprintf(skeleton->instead, sizeof skeleton->instead, "%s", path);
        else
            snprintf(path, PATH_MAX, "%s", skeleton->hidden);
        return;
    }
    snprintf(skeleton->missing, sizeof skeleton->missing, "%s", name);
    snprintf(path, PATH_MAX, "/usr/bin/%s", name);
}

/* Returns what a placeholder stands for, or NULL if it is not one. `path` is a buffer for it. */
static const char *meaning(struct skeleton *skeleton, const char *word, char *path)
{
    const struct {
        const char *word, *text;
    } meanings[] = { { "NAME", skeleton->name },     { "DIR", skeleton->dir },
                     { "DATA", skeleton->data },     { "PLUGINS", skeleton->plugins },
                     { "LATERD", skeleton->laterd }, { "INCLUDE", skeleton->include },
                     { "CONF", LATER_CONF_DIR } };

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strcmp(meanings[i].word, word) == 0)
            return meanings[i].text;
    }
    if (strncmp(word, "PATH:", 5) != 0)
        return NULL;
    skeleton_program(skeleton, word + 5, path);
    return path;
}

static void skeleton_put(struct skeleton *skeleton, FILE *out, const char *text)
{
    char word[WORD_MAX], path[PATH_MAX];
    const char *at, *end, *means;

    while ((at = strchr(text, '@'))) {
        end = strchr(at + 1, '@');
        means = NULL;
        if (end && (size_t)(end - at - 1) < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)(end - at - 1), at + 1);
            means = meaning(skeleton, word, path);
        }
        if (means)
            fprintf(out, "%.*s%s", (int)(at - text), text, means);
        else
            fprintf(out, "%.*s", (int)(at + 1 - text), text);
        text = means ? end + 1 : at + 1;
    }
    fputs(text, out);
}

static char *read_template(const char *path, struct later_error *err)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(TEMPLATE_MAX + 1) : NULL;
    size_t len;

    if (!text) {
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    } else {
        len = fread(text, 1, TEMPLATE_MAX, file);
        text[len] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

/* Opens a new file. Returns NULL with *err, or if the file exists. */
static FILE *skeleton_create(const char *path, bool executable, struct later_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, executable ? 0755 : 0644);
    FILE *file = fd == -1 ? NULL : fdopen(fd, "w");

    if (!file && errno != EEXIST)
        later_fail(err, LATER_E_SYSTEM, "%s: %s", path, strerror(errno));
    return file;
}

/* Makes the path of a new file from a template's name, with NAME replaced. */
static bool target(const struct skeleton *skeleton, const char *file, char *path)
{
    const char *at = strstr(file, "NAME");
    char name[PATH_MAX];
    int len = at ? snprintf(name, sizeof name, "%.*s%s%s", (int)(at - file), file, skeleton->name,
                            at + strlen("NAME"))
                 : snprintf(name, sizeof name, "%s", file);

    return (size_t)len < sizeof name && skeleton_join(path, skeleton->dir, name);
}

static int add_file(struct skeleton *skeleton, const char *folder, const char *name,
                    struct later_error *err)
{
    char from[PATH_MAX], to[PATH_MAX], *text;
    FILE *file;
    bool failed;

    if (!skeleton_join(from, folder, name) || !target(skeleton, name, to))
        return later_fail(err, LATER_E_USAGE, "%s: the path is too long", skeleton->name);
    text = read_template(from, err);
    if (!text)
        return -1;
    err->text[0] = '\0';
    file = skeleton_create(to, strncmp(text, "#!", 2) == 0, err);
    if (file)
        skeleton_put(skeleton, file, text);
    free(text);
    if (!file)
        return err->text[0] ? -1 : 0;
    failed = ferror(file);
    failed = fclose(file) != 0 || failed;
    return failed ? later_fail(err, LATER_E_SYSTEM, "%s: %s", to, strerror(errno)) : 0;
}

/* --- the folder --- */

int skeleton_begin(struct skeleton *skeleton, struct later_error *err)
{
    char here[PATH_MAX];

    if (!getcwd(here, sizeof here) || !skeleton_join(skeleton->dir, here, skeleton->name))
        return later_fail(err, LATER_E_SYSTEM, "the current folder: %s", strerror(errno));
    if (mkdir(skeleton->dir, 0755) == 0)
        return 0;
    return later_fail(err, LATER_E_SYSTEM, "%s: %s", skeleton->dir,
                      errno == EEXIST ? "exists already" : strerror(errno));
}

int skeleton_add(struct skeleton *skeleton, const char *template, struct later_error *err)
{
    char folder[PATH_MAX];
    struct dirent *entry;
    DIR *dir = folder_of(skeleton, template, folder) ? opendir(folder) : NULL;
    int result = 0;

    if (!dir)
        return later_fail(err, LATER_E_SYSTEM, "%s: %s", folder, strerror(errno));
    while (result == 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.')
            result = add_file(skeleton, folder, entry->d_name, err);
    }
    closedir(dir);
    return result;
}
