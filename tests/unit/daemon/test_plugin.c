/* test_plugin.c: which files are loaded as plugins, which are refused, and with what message. */
#include "plugin/plugin.h"

#include "tests/unit/fake_host.h"
#include "tests/unit/old_plugin/abi1.h"
#include "tests/unit/plugin_files.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <event2/event.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct plugin_set *set;
static struct later_error err;

static void begin(void)
{
    fake_reset();
    err = (struct later_error){ 0 };
    set = plugin_set_new();
    ck_assert_ptr_nonnull(set);
}

static void end(void)
{
    plugin_set_free(set);
}

static const struct plugin *load(const char *path)
{
    ck_assert_msg(plugin_load(set, path, fake_host(), &err) == 0, "%s", err.text);
    return plugin_set_at(set, plugin_set_count(set) - 1);
}

/* Loading is refused; the message begins with the path and has these words; the set is as before.
 */
static void refuse(const char *path, const char *words)
{
    size_t count = plugin_set_count(set);

    ck_assert_int_eq(plugin_load(set, path, fake_host(), &err), -1);
    ck_assert_int_eq(err.code, LATER_E_CONFIG);
    ck_assert_msg(strncmp(err.text, path, strlen(path)) == 0, "%s", err.text);
    ck_assert_msg(strstr(err.text, words) != NULL, "\"%s\" lacks \"%s\"", err.text, words);
    ck_assert_ptr_null(strstr(err.text, "/proc/"));
    ck_assert_uint_eq(plugin_set_count(set), count);
}

FILES_CASE("files", begin, end);

TEST(a_good_plugin)
{
    const struct plugin *good = load(files_install("good"));
    const struct plugin_type *type;

    ck_assert_str_eq(good->name, "good");
    ck_assert_str_eq(good->described.version, "1.2.3");
    ck_assert_uint_eq(good->type_count, 4);
    type = plugin_set_find(set, "good.event");
    ck_assert_ptr_nonnull(type);
    ck_assert_str_eq(type->plugin, "good");
    ck_assert_str_eq(type->type.name, "good.event");
    ck_assert_uint_eq(type->type.mode, LATER_EVENT);
    ck_assert(type->type.perform && type->type.cancel);
}

TEST(a_relative_path)
{
    files_install("good");
    ck_assert_int_eq(chdir(files_dir), 0);
    load("good.so");
    refuse("./good.so", "the same file as good.so");
}

/* The linker knows a library by the name with which it was opened, so each needs a name of its
 * own. */
TEST(several_plugins)
{
    load(files_install("good"));
    load(files_install("second"));
    load(files_install("older"));
    ck_assert_str_eq(plugin_set_find(set, "good.serial")->plugin, "good");
    ck_assert_str_eq(plugin_set_find(set, "second")->plugin, "second");
    ck_assert_str_eq(plugin_set_find(set, "older.two")->plugin, "older");
}

TEST(writable_by_others)
{
    const char *path = files_install("good");

    chmod(path, 0646);
    refuse(path, "the file can be written by its group or by others (mode 0646): chmod go-w");
    chmod(path, 0664);
    refuse(path, "(mode 0664)");
    chmod(path, 0644);
    chmod(files_dir, 0777);
    refuse(path, "its directory can be written by its group or by others (mode 0777)");
    chmod(files_dir, 0770);
    refuse(path, "its directory can be written");
    chmod(files_dir, 0700);
    load(path);
}

/* games is a user of each Debian, with a group of its own. */
TEST(writable_by_own_group)
{
    const struct passwd *user = getpwnam("games");
    const char *path = files_install("good");
    char above[512];

    ck_assert_ptr_nonnull(user);
    if (geteuid() != 0)
        return;
    snprintf(above, sizeof above, "%s/..", files_dir);
    ck_assert_int_eq(chmod(above, 0711), 0);
    ck_assert_int_eq(chown(files_dir, user->pw_uid, user->pw_gid), 0);
    ck_assert_int_eq(chown(path, user->pw_uid, user->pw_gid), 0);
    ck_assert_int_eq(chmod(files_dir, 0775), 0);
    ck_assert_int_eq(chmod(path, 0777), 0);
    ck_assert_int_eq(seteuid(user->pw_uid), 0);
    refuse(path, "the file can be written by its group or by others (mode 0777)");
    ck_assert_int_eq(chmod(path, 0775), 0);
    load(path);
    ck_assert_int_eq(seteuid(0), 0);
}

TEST(owned_by_others)
{
    const char *path = files_install("good");

    if (geteuid() != 0)
        return; /* only root can give a file away */
    ck_assert_int_eq(chown(path, 4242, (gid_t)-1), 0);
    refuse(path,
           "the file belongs to user 4242; it must be root's or that of the user laterd runs as");
    ck_assert_int_eq(chown(path, 0, (gid_t)-1), 0);
    ck_assert_int_eq(chown(files_dir, 4242, (gid_t)-1), 0);
    refuse(path, "its directory belongs to user 4242");
}

TEST(no_such_file)
{
    char in_missing[128];

    refuse(files_path("absent.so"), "No such file or directory");
    snprintf(in_missing, sizeof in_missing, "%s/absent/good.so", files_dir);
    refuse(in_missing, "the directory: No such file or directory");
}

TEST(not_a_file)
{
    const char *good = files_install("good"), *link = files_path("link.so");
    const char *fifo = files_path("fifo.so"), *dir = files_path("dir.so");

    ck_assert_int_eq(symlink(good, link), 0);
    refuse(link, "a symbolic link");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    refuse(fifo, "not a regular file");
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    refuse(dir, "not a regular file");
}

TEST(not_a_shared_object)
{
    char bytes[1 << 16];
    size_t len = files_read(files_install("good"), bytes, sizeof bytes);
    Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)bytes; /* so far like Elf32_Ehdr */

    refuse(files_write("text.so", "int main;\n", 10), "not an ELF shared object");
    refuse(files_write("empty.so", "", 0), "not an ELF shared object");
    refuse(files_write("short.so", bytes, 20), "for another kind of machine");
    refuse(files_write("half.so", bytes, len / 2), "cut short: it has ");
    refuse(files_write("all-but-one.so", bytes, len - 1), "cut short: it has ");
    head->e_type = ET_REL;
    refuse(files_write("object.so", bytes, len), "not a shared object");
    head->e_type = ET_DYN;
    head->e_machine = head->e_machine == EM_PPC64 ? EM_AARCH64 : EM_PPC64;
    refuse(files_write("foreign.so", bytes, len), "for another kind of machine");
    head->e_ident[EI_CLASS] = head->e_ident[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    refuse(files_write("bits.so", bytes, len), "for another kind of machine");
}

TEST(not_a_plugin)
{
    refuse(files_install("no_symbol"), "it lacks later_plugin_open");
    refuse(files_install("undefined"), "undefined symbol: function_that_is_nowhere");
}

/* What a plugin may say wrongly of itself, and what laterd says to that. */
static const struct {
    const char *what, *text, *words;
} troubles[] = {
    { "null", "", "its later_plugin_open() returned NULL" },
    { "api", "", "built for plugin API 7, this laterd has API 1" },
    { "small", "", "impossible sizes" },
    { "huge", "", "impossible sizes of its structs (plugin 4097" },
    { "type small", "", "impossible sizes" },
    { "type huge", "", "type 8192 bytes" },
    { "type odd", "", "impossible sizes" },
    { "no name", "", "the plugin's name \"\" is not" },
    { "name", "", "the plugin's name \"\" is not" },
    { "name", "Mail", "the plugin's name \"Mail\" is not [a-z0-9_-]{1,64}" },
    { "name", "a.b", "\"a.b\" is not" },
    { "name", "a23456789012345678901234567890123456789012345678901234567890abcde", "is not" },
    { "no list", "", "plugin trouble has no types" },
    { "no types", "", "plugin trouble has no types" },
    { "type", "", "the type \"\" is not" },
    { "type", "a b", "the type \"a b\" is not [A-Za-z0-9_.:-]{1,128}" },
    { "type", "a*b", "is not" },
    { "type", "a**", "is not" },
    { "type", "mail/send", "is not" },
    { "long type", "", "is not" },
    { "no perform", "", "type trouble has no perform" },
    { "mode", "", "type trouble has mode 2" },
    { "twice", "", "plugin trouble offers type trouble twice" },
    { "1025 types", "", "more than 1024 types" },
};

FILES_CASE("descriptions", begin, end);

TEST_EACH(trouble, COUNT(troubles))
{
    setenv("TROUBLE", troubles[_i].what, 1);
    setenv("TROUBLE_TEXT", troubles[_i].text, 1);
    refuse(files_install("trouble"), troubles[_i].words);
}

/* The limits themselves are fine. */
TEST_EACH(no_trouble, 3)
{
    static const char *const names[] = {
        "a", "0-_z", "a23456789012345678901234567890123456789012345678901234567890abcd"
    };

    setenv("TROUBLE", "name", 1);
    setenv("TROUBLE_TEXT", names[_i], 1);
    ck_assert_str_eq(load(files_install("trouble"))->name, names[_i]);
}

TEST(the_most_types)
{
    char name[32];

    setenv("TROUBLE", "1024 types", 1);
    ck_assert_uint_eq(load(files_install("trouble"))->type_count, 1024);
    for (int i = 0; i < 1024; i++) {
        const struct plugin_type *type;

        snprintf(name, sizeof name, "t%d%d%d%d", i % 10, i / 10 % 10, i / 100 % 10, i / 1000);
        type = plugin_set_find(set, name);
        ck_assert_msg(type && strcmp(type->name, name) == 0, "%s", name);
    }
    ck_assert_ptr_null(plugin_set_find(set, "t4201"));
}

TEST(an_older_header)
{
    const struct plugin *older = load(files_install("older"));

    ck_assert_str_eq(older->described.version, "0.1");
    ck_assert(!older->described.config && !older->described.config_done);
    ck_assert(!older->described.start && !older->described.stop && !older->described.config_help);
    ck_assert_uint_eq(older->type_count, 2);
    ck_assert_str_eq(older->types[1].name, "older.two");
    ck_assert(older->types[0].type.cancel == NULL && older->types[1].type.cancel == NULL);
}

TEST(a_newer_header)
{
    const struct plugin *newer = load(files_install("newer"));

    ck_assert_str_eq(newer->described.version, "9.9");
    ck_assert_uint_eq(newer->type_count, 3);
    ck_assert_str_eq(newer->types[2].name, "newer.three");
    ck_assert_uint_eq(newer->types[2].type.mode, LATER_EVENT);
}

/* A plugin built with the first published header still gets the right answer from every call. */
TEST(the_first_header)
{
    const struct plugin *old = load(files_install("plugin-api1"));
    struct later_job *job = fake_job_new("api1.serial", "{\"a\":1}");
    char text[200];

    ck_assert_int_eq(old->described.config("host", "h1", text, sizeof text), 0);
    job->trace = "t-9";
    job->attempt = 3;
    fake.stock = 1;
    fake.push_answer = LATER_EXISTS;
    fake.unlock_answer = LATER_NO;
    fake.limit_answer = LATER_FAILED;
    ck_assert_int_eq(fake_job_perform(&old->described, job), LATER_RETRY);
    ck_assert_str_eq(fake.log,
                     "warn host h1\n"
                     "info job-1 api1.serial default 0123456789abcdef t-9 3 25\n"
                     "debug {\"a\":1} in {\"type\":\"api1.serial\",\"payload\":{\"a\":1}}\n"
                     "debug 1 0\n"
                     "info answers 1 0 1 0 2 -1\n");
    ck_assert_str_eq(job->error, "no luck");
    ck_assert_double_eq(job->retry_in, 7.5);
    ck_assert_str_eq(fake.pushed.type, "next");
    ck_assert_str_eq(fake.pushed.queue, "other");
    ck_assert_str_eq(fake.pushed.id, "n1");
    ck_assert_str_eq(fake.pushed.payload, "[1]");
    ck_assert_double_eq(fake.pushed.delay, 1.5);
    ck_assert_uint_eq(fake.misuses, 0);
    fake_job_free(job);
}

TEST(the_first_header_events)
{
    const struct plugin *old = load(files_install("plugin-api1"));
    struct later_job *job = fake_job_new("api1.event", NULL);

    fake.base = event_base_new();
    ck_assert_int_eq(fake_job_perform(&old->described, job), LATER_DEFERRED);
    fake_job_cancel(job);
    ck_assert(job->ended && job->result == LATER_BURY);
    ck_assert_str_eq(job->error, "data 1");
    ck_assert_str_eq(fake.log, "info base 1\n");
    ck_assert_uint_eq(fake.misuses, 0);
    event_base_free(fake.base);
    fake_job_free(job);
}

/* Built as strict C99 and as strict C++20: that they were built is the first half of the test. */
TEST_EACH(other_languages, 2)
{
    static const char *const names[] = { "c99", "cxx" }, *const types[] = { "c99.hello", "cxx" };
    const struct plugin *plugin = load(files_install(names[_i]));
    struct later_job *job = fake_job_new(types[_i], "\"you\"");

    fake.base = event_base_new();
    fake.stock = 1;
    job->trace = "t";
    ck_assert_int_eq(fake_job_perform(&plugin->described, job), LATER_DONE);
    ck_assert_uint_eq(fake.misuses, 0);
    event_base_free(fake.base);
    fake_job_free(job);
}

TEST(describe)
{
    const char *path = files_install("good");
    char *text, expected[512];
    size_t len;
    FILE *out = open_memstream(&text, &len);

    ck_assert_int_eq(plugin_describe(path, out, &err), 0);
    fclose(out);
    snprintf(expected, sizeof expected,
             "file      %s\nname      good\nversion   1.2.3\napi       1\n"
             "callbacks config config_done start stop\n"
             "type      good.serial serial\ntype      good.event event\n"
             "type      good.* serial\ntype      good.deep.* serial\n\nhost: where to\n",
             path);
    ck_assert_str_eq(text, expected);
    free(text);
    ck_assert_int_eq(plugin_describe(files_path("absent.so"), stdout, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_CONFIG);
}
