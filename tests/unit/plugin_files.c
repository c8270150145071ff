/* plugin_files.c: plugin files for the tests of daemon/plugin. */
#include "plugin_files.h"

#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PLUGIN_TEST_DIR
#define PLUGIN_TEST_DIR "."
#endif

enum { FILE_MAX = 1 << 22 };

char files_dir[64];
static char base[40];

static void make_base(void)
{
    strcpy(base, "/tmp/later-plugin-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
}

static void remove_base(void)
{
    folder_remove(base);
}

static void make_dir(void)
{
    snprintf(files_dir, sizeof files_dir, "%s/XXXXXX", base);
    ck_assert_ptr_nonnull(mkdtemp(files_dir));
}

void files_case(const char *name, void (*set_up)(void), void (*tear_down)(void))
{
    TCase *tc = unit_case(name, set_up, tear_down);

    tcase_add_unchecked_fixture(tc, make_base, remove_base);
    tcase_add_checked_fixture(tc, make_dir, NULL);
}

const char *files_path(const char *name)
{
    static char paths[8][sizeof files_dir + 256];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", files_dir, name);
    return path;
}

size_t files_read(const char *path, void *bytes, size_t max)
{
    FILE *in = fopen(path, "r");
    size_t len;

    ck_assert_msg(in != NULL, "%s is missing; build the test plugins first", path);
    len = fread(bytes, 1, max, in);
    fclose(in);
    return len;
}

const char *files_write(const char *name, const void *bytes, size_t len)
{
    const char *path = files_path(name);
    FILE *out = fopen(path, "w");

    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, len, out), len);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_int_eq(chmod(path, 0644), 0);
    return path;
}

const char *files_install(const char *name)
{
    return files_install_as(name, name);
}

const char *files_install_as(const char *name, const char *as)
{
    const char *build = getenv("PLUGIN_TEST_DIR"), *path;
    char *bytes = malloc(FILE_MAX), from[1024], to[128];
    size_t len;

    ck_assert_ptr_nonnull(bytes);
    snprintf(from, sizeof from, "%s/%s.so", build ? build : PLUGIN_TEST_DIR, name);
    snprintf(to, sizeof to, "%s.so", as);
    len = files_read(from, bytes, FILE_MAX);
    path = files_write(to, bytes, len);
    free(bytes);
    return path;
}
