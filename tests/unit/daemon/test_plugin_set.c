/* test_plugin_set.c: the plugins of a configuration: loaded, configured, started, stopped. */
#include "plugin/plugin.h"

#include "tests/unit/fake_host.h"
#include "tests/unit/plugin_files.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct plugin_set *set;
static struct later_error err;
static struct config config;
static struct config_leaf leaves[8];

static void begin(void)
{
    fake_reset();
    unsetenv("SECOND_REFUSES");
    config = (struct config){ 0 };
    set = plugin_set_new();
    ck_assert_ptr_nonnull(set);
    config.plugins.dir = files_dir;
    config.plugins.config = leaves;
}

static void end(void)
{
    plugin_set_free(set);
}

/* The configuration has a line plugins.config.PLUGIN.KEY = VALUE; the first is line 10. */
static void leaf(const char *plugin, const char *key, const char *value)
{
    uint32_t i = config.plugins.config_count++;

    leaves[i] = (struct config_leaf){ (char *)plugin, (char *)key, (char *)value,
                                      (char *)"/etc/laterd.conf", 10 + i };
}

static void load(void)
{
    ck_assert_msg(plugin_set_load(set, &config, fake_host(), &err) == 0, "%s", err.text);
}

static void refuse(const char *text)
{
    ck_assert_int_eq(plugin_set_load(set, &config, fake_host(), &err), -1);
    ck_assert_int_eq(err.code, LATER_E_CONFIG);
    ck_assert_str_eq(err.text, text);
}

/* What good.so wrote down. */
static const char *trace_of(size_t index)
{
    const char *trace = dlsym(plugin_set_at(set, index)->handle, "good_trace");

    ck_assert_ptr_nonnull(trace);
    return trace;
}

FILES_CASE("loading", begin, end);

TEST(all_in_name_order)
{
    files_install("second");
    files_install("older");
    files_install("good");
    files_write("README", "no plugin\n", 10);
    files_write(".hidden.so", "no plugin\n", 10);
    files_write(".so", "no plugin\n", 10);
    load();
    ck_assert_uint_eq(plugin_set_count(set), 3);
    ck_assert_str_eq(plugin_set_at(set, 0)->name, "good");
    ck_assert_str_eq(plugin_set_at(set, 1)->name, "older");
    ck_assert_str_eq(plugin_set_at(set, 2)->name, "second");
    ck_assert_str_eq(trace_of(0), "config_done;");
}

TEST(named_in_that_order)
{
    char *names[] = { (char *)"second", (char *)"good", NULL };

    files_install("good");
    files_install("older");
    files_install("second");
    config.plugins.load = names;
    load();
    ck_assert_uint_eq(plugin_set_count(set), 2);
    ck_assert_str_eq(plugin_set_at(set, 0)->name, "second");
    ck_assert_str_eq(plugin_set_at(set, 1)->name, "good");
}

TEST(none)
{
    char *names[] = { NULL };

    files_install("good");
    config.plugins.load = names;
    load();
    ck_assert_uint_eq(plugin_set_count(set), 0);
    ck_assert_ptr_null(plugin_set_find(set, "good.serial"));
    ck_assert_int_eq(plugin_set_start(set, &err), 0);
    plugin_set_stop(set);
}

TEST_EACH(names_that_are_none, 5)
{
    static const char *const bad[] = { "../good", "", ".good", "/good", "good.so" };
    char *names[] = { (char *)bad[_i], NULL }, expected[200];

    files_install("good");
    config.plugins.load = names;
    snprintf(expected, sizeof expected,
             "plugins.load: \"%s\": give the file's name without directory and without .so",
             bad[_i]);
    refuse(expected);
}

TEST(missing)
{
    char *names[] = { (char *)"absent", NULL }, expected[200];

    config.plugins.load = names;
    snprintf(expected, sizeof expected, "plugins.load: %s/absent.so: No such file or directory",
             files_dir);
    refuse(expected);
    config.plugins.load = NULL;
    config.plugins.dir = (char *)"/nonexistent/jobs";
    refuse("plugins.dir: /nonexistent/jobs: No such file or directory");
}

/* A bad file among good ones is not passed over. */
TEST(one_bad_file)
{
    char expected[200];

    files_install("good");
    snprintf(expected, sizeof expected,
             "%s: not an ELF shared object; build it with cc -shared -fPIC",
             files_write("mail.so", "oops", 4));
    refuse(expected);
}

TEST(rivals)
{
    char expected[400];
    const char *again = files_install_as("good", "great");

    files_install("good");
    snprintf(expected, sizeof expected,
             "%s: its name good is that of %s/good.so too; load only one", again, files_dir);
    refuse(expected);
}

TEST(rival_types)
{
    char expected[400];

    files_install("good");
    setenv("TROUBLE", "type", 1);
    setenv("TROUBLE_TEXT", "good.*", 1);
    snprintf(expected, sizeof expected,
             "%s: plugin trouble offers type good.*, as plugin good does; load only one",
             files_install("trouble"));
    refuse(expected);
}

TEST(a_hard_link)
{
    char expected[400];
    const char *good = files_install("good"), *link_path = files_path("twin.so");

    ck_assert_int_eq(link(good, link_path), 0);
    snprintf(expected, sizeof expected, "%s: the same file as %s; load it once", link_path, good);
    refuse(expected);
}

FILES_CASE("callbacks", begin, end);

TEST(leaves_in_order)
{
    files_install("good");
    leaf("good", "host", "a");
    leaf("good", "smtp.port", "25");
    leaf("good", "argv.0", "");
    load();
    ck_assert_str_eq(trace_of(0), "config host=a;config smtp.port=25;config argv.0=;config_done;");
}

TEST(leaves_of_nobody)
{
    files_install("good");
    leaf("good", "host", "a");
    leaf("mail", "host", "a");
    refuse("/etc/laterd.conf:11: plugins.config.mail: no plugin of this name is loaded; load it or "
           "take this section out");
}

TEST(leaves_for_a_plugin_without_options)
{
    files_install("second");
    leaf("second", "host", "a");
    refuse("/etc/laterd.conf:10: plugin second: host: this plugin has no options");
}

TEST(config_refuses)
{
    files_install("good");
    leaf("good", "host", "a");
    leaf("good", "refuse", "not a number");
    refuse("/etc/laterd.conf:11: plugin good: refuse: not a number");
}

TEST(config_fills_the_buffer)
{
    char expected[512];

    files_install("good");
    leaf("good", "overflow", "");
    snprintf(expected, sizeof expected, "/etc/laterd.conf:10: plugin good: overflow: %0400d", 0);
    for (char *c = expected; (c = strchr(c, '0')); c++)
        *c = c[-1] == '1' ? '0' : 'x';
    refuse(expected);
}

/* The first leaf of the plugin is the place; without any, its file. */
TEST(config_done_refuses)
{
    files_install("good");
    files_install("older");
    leaf("good", "x", "1");
    leaf("good", "done", "no");
    refuse("/etc/laterd.conf:10: plugin good: a host is missing");
}

/* A sentence that names a part of the configuration is told at that part's place. */
TEST(config_done_names_a_part)
{
    files_install("good");
    leaf("good", "x", "1");
    leaf("good", "smtps.port", "25");
    leaf("good", "smtp.port", "25");
    leaf("good", "smtp.done", "no");
    refuse("/etc/laterd.conf:12: plugin good: smtp: a host is missing");
}

TEST(start_and_stop)
{
    files_install("good");
    load();
    ck_assert_int_eq(plugin_set_start(set, &err), 0);
    ck_assert_str_eq(trace_of(0), "config_done;start;");
    plugin_set_stop(set);
    plugin_set_stop(set);
    ck_assert_str_eq(trace_of(0), "config_done;start;stop;");
}

TEST(start_refuses)
{
    char expected[200];

    snprintf(expected, sizeof expected, "%s: plugin second: no such host", files_install("second"));
    files_install("good");
    files_install("older");
    load();
    setenv("SECOND_REFUSES", "1", 1);
    ck_assert_int_eq(plugin_set_start(set, &err), -1);
    ck_assert_str_eq(err.text, expected);
    ck_assert_int_eq(err.code, LATER_E_CONFIG);
    ck_assert_str_eq(trace_of(0), "config_done;start;stop;");
    ck_assert_int_eq(*(int *)dlsym(plugin_set_at(set, 2)->handle, "second_stopped"), 0);
}

TEST(start_refuses_silently)
{
    files_install("good");
    leaf("good", "start", "no");
    load();
    ck_assert_int_eq(plugin_set_start(set, &err), -1);
    ck_assert_str_eq(err.text, "/etc/laterd.conf:10: plugin good: refused, without saying why");
    plugin_set_stop(set);
    ck_assert_str_eq(trace_of(0), "config start=no;config_done;start;");
}

/* For laterd --perform: one plugin, and a configuration that speaks of others too. */
TEST(one_of_many_sections)
{
    leaf("mail", "host", "a");
    leaf("good", "host", "b");
    ck_assert_int_eq(plugin_load(set, files_install("good"), fake_host(), &err), 0);
    ck_assert_int_eq(plugin_set_configure(set, &config, &err), 0);
    ck_assert_str_eq(trace_of(0), "config host=b;config_done;");
}

static const char *found(const char *type)
{
    const struct plugin_type *handler = plugin_set_find(set, type);

    return handler ? handler->name : "(none)";
}

FILES_CASE("lookup", begin, end);

TEST(find)
{
    ck_assert_int_eq(plugin_load(set, files_install("good"), fake_host(), &err), 0);
    ck_assert_str_eq(found("good.serial"), "good.serial");
    ck_assert_str_eq(found("good.other"), "good.*");
    ck_assert_str_eq(found("good."), "good.*");
    ck_assert_str_eq(found("good.deep"), "good.*");
    ck_assert_str_eq(found("good.deep.er"), "good.deep.*");
    ck_assert_str_eq(found("good.serial.x"), "good.*");
    ck_assert_str_eq(found("good"), "(none)");
    ck_assert_str_eq(found("goo"), "(none)");
    ck_assert_str_eq(found(""), "(none)");
    ck_assert_str_eq(found("bad.serial"), "(none)");
    ck_assert_int_eq(plugin_load(set, files_install("second"), fake_host(), &err), 0);
    ck_assert_str_eq(found("bad.serial"), "*"); /* of second */
    ck_assert_str_eq(found("good"), "*");
    ck_assert_str_eq(found("good.x"), "good.*");
    setenv("TROUBLE", "type", 1); /* an exact name like the beginning of a pattern */
    setenv("TROUBLE_TEXT", "good.deep.", 1);
    ck_assert_int_eq(plugin_load(set, files_install("trouble"), fake_host(), &err), 0);
    ck_assert_str_eq(found("good.deep."), "good.deep.");
    ck_assert_str_eq(found("good.deep.x"), "good.deep.*");
}

TEST(find_at_the_limit)
{
    char type[200] = "good.";

    ck_assert_int_eq(plugin_load(set, files_install("good"), fake_host(), &err), 0);
    memset(type + 5, 'x', 124);
    ck_assert_str_eq(found(type), "(none)"); /* 129 bytes: no type is that long */
    type[128] = '\0';
    ck_assert_str_eq(found(type), "good.*");
}
