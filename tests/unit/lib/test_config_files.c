/* test_config_files.c: where a configuration comes from: @include, conf.d, modes and kinds of
 * files. */
#include "config/config.h"

#include "tests/unit/config_files.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- @include and conf.d */

CASE("places", config_files_begin, config_files_end);

TEST(include_is_relative_to_the_file)
{
    config_put("etc/laterd.conf", "@include \"sub/common.conf\"\ntimeout = 5;\n"
                                  "retry = {\n  @include \"sub/retry.conf\"\n};\n");
    config_put("etc/sub/common.conf", "lease = 44; # in sub\n@include \"sub/more.conf\"\n");
    config_put("etc/sub/more.conf", "grace = 4;\n");
    config_put("etc/sub/retry.conf", "base = 2;\nmax = 20;\n");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_double_eq(config_get("etc/laterd.conf")->lease, 44);
    ck_assert_double_eq(config_get("etc/laterd.conf")->grace, 4);
    ck_assert_double_eq(config_get("etc/laterd.conf")->timeout, 5);
    ck_assert_double_eq(config_get("etc/laterd.conf")->backoff.max, 20);
    ck_assert_int_eq(chdir(config_path("etc")), 0);
    config_free(config_load("laterd.conf", &config_err));
    ck_assert_str_eq(config_err.text, ""); /* a path without a directory does as well */
    ck_assert_int_eq(chdir("/"), 0);
}

TEST(include_of_an_absolute_path)
{
    char text[600];

    config_put("else/where.conf", "lease = 44;");
    snprintf(text, sizeof text, "@include \"%s\"\n", config_path("else/where.conf"));
    config_put("etc/laterd.conf", text);
    ck_assert_double_eq(config_get("etc/laterd.conf")->lease, 44);
}

/* The rest of a line after a directive counts, and later lines keep their numbers. */
TEST(include_and_what_follows_it)
{
    config_put("laterd.conf", "  @include \"a.inc\" @include \"b.inc\" grace = 3; # x\n"
                              "@include \"empty.inc\"\n/*\n*/ retry = {\n@include \"c.inc\"\n};\n"
                              "drain = 0.5;\nlease = 0;\n");
    config_put("a.inc", "timeout = 1;");
    config_put("b.inc", "\n\nevents = 2;\n");
    config_put("c.inc", "base = 1;\n\nmax = 2;");
    config_put("empty.inc", "");
    config_refused("laterd.conf", "%s/laterd.conf:8: lease: 0 is too short; 1 to 3600 seconds");
    config_put("c.inc", "base = 1;\n\nmax = 2, jitter = 3");
    config_refused("laterd.conf", "%s/c.inc:3: retry.jitter: 3 is too large; 0 to 1");
    config_put("b.inc", "\n\nevents = 0;\n");
    config_refused("laterd.conf", "%s/b.inc:3: events: 0 is too small; 1 to 10000");
    config_put("a.inc", "timeout = \"1\";");
    config_refused("laterd.conf", "%s/a.inc:1: timeout: a string is given; a number, 0.05 to "
                                  "604800 seconds, is wanted");
}

TEST(include_of_itself)
{
    config_put("laterd.conf", "lease = 3;\n@include \"laterd.conf\"\n");
    config_refused("laterd.conf", "%s/laterd.conf:2: more than 1000 files, or @include goes deeper "
                                  "than 10; does one include itself?");
}

TEST(include_ten_deep)
{
    char name[20], text[60];

    for (int i = 0; i <= 11; i++) {
        snprintf(name, sizeof name, "%d.conf", i);
        snprintf(text, sizeof text, i < 11 ? "\n@include \"%d.conf\"\n" : "lease = 9;", i + 1);
        config_put(name, text);
    }
    ck_assert_double_eq(config_get("1.conf")->lease, 9);
    config_refused("0.conf", "%s/10.conf:2: more than 1000 files, or @include goes deeper than 10; "
                             "does one include itself?");
}

TEST(include_of_too_much)
{
    static char text[700000];

    memset(text, ' ', sizeof text - 1);
    config_put("blank.inc", text);
    config_put("laterd.conf", "@include \"blank.inc\"\n@include \"blank.inc\"\n");
    config_refused("laterd.conf",
                   "%s/blank.inc:1: more than 1 MiB with all that is included; is it "
                   "the right file?");
}

TEST(conf_d_in_order_of_names)
{
    const struct config *c;

    config_put("laterd.conf", "lease = 10; timeout = 10; grace = 10; drain = 10;\n"
                              "queues = ( { name = \"a\"; }, { name = \"b\"; } );\n");
    config_put("conf.d/20-second.conf", "timeout = 20; grace = 20;\n");
    config_put("conf.d/10-first.conf", "grace = 11; drain = 11; queues = ( { name = \"c\"; } );\n");
    config_put("conf.d/B.conf", "events = 66;"); /* capitals before small letters, everywhere */
    config_put("conf.d/a.conf", "events = 77;");
    config_put("conf.d/.30-hidden.conf", "broken");
    config_put("conf.d/40-note.txt", "broken");
    config_put("conf.d/.conf", "broken");
    c = config_get("laterd.conf");
    ck_assert_double_eq(c->lease, 10);
    ck_assert_double_eq(c->drain, 11);
    ck_assert_double_eq(c->timeout, 20);
    ck_assert_double_eq(c->grace, 20);
    ck_assert_uint_eq(c->events, 77);
    ck_assert_uint_eq(c->pools->queue_count, 1);
    ck_assert_str_eq(c->pools->queues->name, "c");
}

TEST(conf_d_faults_name_their_file)
{
    config_put("laterd.conf", "lease = 10;\n");
    config_put("conf.d/x.conf", "\n@include \"y.inc\"\n"); /* relative to conf.d */
    config_put("conf.d/y.inc", "\n\nlease = 0;\n");
    config_refused("laterd.conf", "%s/conf.d/y.inc:3: lease: 0 is too short; 1 to 3600 seconds");
}

TEST(a_list_replaces_the_one_before)
{
    const struct config *c;

    config_put("laterd.conf", "pools = ( { name = \"a\"; queues = ( { name = \"q\"; } ); } );\n"
                              "limits = ( { type = \"a\"; max = 1; per = 1; } );\n"
                              "plugins = { load = ( \"x\", \"y\" ); };\n");
    config_put("conf.d/a.conf", "pools = ( { name = \"b\"; queues = ( { name = \"r\"; } ); } );\n"
                                "limits = ();\nplugins = { load = ( \"z\" ); };\n");
    c = config_get("laterd.conf");
    ck_assert_uint_eq(c->pool_count, 1);
    ck_assert_str_eq(c->pools->name, "b");
    ck_assert_str_eq(c->pools->queues->name, "r");
    ck_assert_uint_eq(c->limit_count, 0);
    ck_assert_str_eq(c->plugins.load[0], "z");
    ck_assert_ptr_null(c->plugins.load[1]);
}

TEST(types_add_up)
{
    const struct config *c;

    config_put("laterd.conf", "types = ( { name = \"a\"; timeout = 1; },\n"
                              "          { name = \"b\"; timeout = 2; max_attempts = 2; } );\n");
    config_put("conf.d/a.conf", "types = ( { name = \"c\"; timeout = 3; },\n"
                                "          { name = \"b\"; timeout = 4; } );\n");
    c = config_get("laterd.conf");
    ck_assert_uint_eq(c->type_count, 3);
    ck_assert_double_eq(config_type_find(c, "a")->timeout, 1);
    ck_assert_double_eq(config_type_find(c, "c")->timeout, 3);
    ck_assert_double_eq(config_type_find(c, "b")->timeout, 4); /* the whole entry is replaced */
    ck_assert_uint_eq(config_type_find(c, "b")->max_attempts, 25);
}

TEST(plugin_values_add_up)
{
    static const char *const expected[] = { "m.g.a=1", "m.g.b=3", "m.l.0=9", "m.s.t=7", "m.u=8",
                                            "m.v.b=2", "m.w=5",   "n.k=5",   "n.x=2" };
    const struct config *c;
    char text[200];

    config_put("laterd.conf", "plugins = { config = { n = { x = 2; };\n"
                              "m = { g = { a = 1; b = 2; }; l = ( 4, 5, 6 ); s = 6; u = ( 1 );\n"
                              "      v = ( 1, 2 ); w = { a = 1; }; };\n"
                              "}; };\n");
    config_put("conf.d/a.conf", "plugins = { config = { n = { k = 5; };\n"
                                "m = { g = { b = 3; }; l = ( 9 ); s = { t = 7; }; u = 8;\n"
                                "      v = { b = 2; }; w = 5; };\n"
                                "}; };\n");
    c = config_get("laterd.conf");
    ck_assert_uint_eq(c->plugins.config_count, 9);
    for (uint32_t i = 0; i < 9; i++) {
        const struct config_leaf *leaf = &c->plugins.config[i];

        snprintf(text, sizeof text, "%s.%s=%s", leaf->plugin, leaf->key, leaf->value);
        ck_assert_str_eq(text, expected[i]);
    }
    ck_assert_str_eq(c->plugins.config[1].file, config_path("conf.d/a.conf"));
    ck_assert_uint_eq(c->plugins.config[1].line, 2);
}

TEST(pools_in_one_file_and_queues_in_another)
{
    config_put("laterd.conf", "\nworkers = 3;\n");
    config_put("conf.d/a.conf", "pools = ( { name = \"a\"; queues = ( { name = \"q\"; } ); } );\n");
    ck_assert_ptr_null(config_load(config_path("laterd.conf"), &config_err));
    ck_assert_ptr_nonnull(strstr(config_err.text, "/conf.d/a.conf:1: pools: given beside workers"));
    ck_assert_ptr_nonnull(strstr(config_err.text, "/laterd.conf:2); one or the other"));
}

/* ---- modes and kinds of files */

CASE("kinds", config_files_begin, config_files_end);

TEST(files_that_everyone_may_write)
{
    config_put("laterd.conf", "lease = 30;\n@include \"part.inc\"\n");
    config_put("part.inc", "timeout = 30;");
    config_put("conf.d/a.conf", "grace = 3;");
    config_get("laterd.conf");
    chmod(config_path("laterd.conf"), 0646);
    config_refused("laterd.conf", "%s/laterd.conf: writable by everyone; chmod o-w it");
    chmod(config_path("laterd.conf"), 0664);
    chmod(config_path("part.inc"), 0602);
    ck_assert_ptr_null(config_load(config_path("laterd.conf"), &config_err));
    ck_assert_ptr_nonnull(strstr(config_err.text, "/laterd.conf:2: @include: /tmp/"));
    ck_assert_ptr_nonnull(strstr(config_err.text, "/part.inc: writable by everyone"));
    chmod(config_path("part.inc"), 0600);
    chmod(config_path("conf.d/a.conf"), 0666);
    config_refused("laterd.conf", "%s/conf.d/a.conf: writable by everyone; chmod o-w it");
    chmod(config_path("conf.d/a.conf"), 0644);
    chmod(config_path("conf.d"), 0777);
    config_refused("laterd.conf", "%s/conf.d: writable by everyone; chmod o-w it");
    chmod(config_path("conf.d"), 0755);
    config_get("laterd.conf");
}

TEST(things_that_are_no_text_files)
{
    FILE *file;

    config_refused(".", "%s/.: not a regular file");
    ck_assert_int_eq(mkfifo(config_path("fifo"), 0600), 0);
    config_refused("fifo", "%s/fifo: not a regular file");
    file = fopen(config_path("nul"), "w");
    fwrite("lease = 30;\0x", 1, 13, file);
    fclose(file);
    config_refused("nul", "%s/nul: contains a NUL byte; it must be a text file");
    config_put("large", "");
    ck_assert_int_eq(truncate(config_path("large"), 1024 * 1024 + 1), 0);
    config_refused("large", "%s/large: larger than 1 MiB; is it the right file?");
}

/* libconfig says so, and does not crash. */
TEST(brackets_without_end)
{
    static char text[40100];

    strcpy(text, "types = ");
    memset(text + strlen(text), '(', 20000);
    memset(text + strlen(text), ')', 20000);
    config_put("laterd.conf", text);
    config_refused("laterd.conf", "%s/laterd.conf:1: memory exhausted");
}

static void set_password_file(mode_t mode)
{
    char text[600];

    config_put("password", "secret\n");
    chmod(config_path("password"), mode);
    snprintf(text, sizeof text, "redis = { password_file = \"%s\"; };", config_path("password"));
    config_put("laterd.conf", text);
}

TEST(password_file_that_others_may_not_read)
{
    set_password_file(0600);
    ck_assert_str_eq(config_get("laterd.conf")->redis.password_file, config_path("password"));
    set_password_file(0640);
    config_get("laterd.conf");
    set_password_file(0644);
    ck_assert_ptr_null(config_load(config_path("laterd.conf"), &config_err));
    ck_assert_ptr_nonnull(strstr(config_err.text, "/laterd.conf:1: redis.password_file: "));
    ck_assert_ptr_nonnull(strstr(config_err.text, "(mode 0644); chmod o-rwx it"));
    ck_assert_int_eq(config_err.code, LATER_E_CONFIG);
}

TEST(plugin_directory)
{
    char text[600];

    snprintf(text, sizeof text, "plugins = { dir = \"%s\"; };", config_dir);
    ck_assert_str_eq(config_of(text)->plugins.dir, config_dir);
    snprintf(text, sizeof text, "plugins = { dir = \"%s\"; };", LATER_PLUGIN_DIR);
    ck_assert_str_eq(config_of(text)->plugins.dir, LATER_PLUGIN_DIR); /* there or not */
}
