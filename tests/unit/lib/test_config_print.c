/* test_config_print.c: what is written about options agrees with the table: --print-config,
 * etc/laterd.conf, doc/laterd.conf.5. */
#include "config/config.h"

#include "tests/unit/config_files.h"
#include "config/config_table.h"
#include "config/config_text.h"
#include "tests/unit/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct config *kept; /* freed by end() */

static void end(void)
{
    config_free(kept);
    kept = NULL;
    config_files_end();
}

/* Loads text and keeps it, so that another can be loaded too. */
static const struct config *keep(const char *text)
{
    config_put("kept.conf", text);
    kept = config_load(config_path("kept.conf"), &config_err);
    ck_assert_msg(kept != NULL, "%s", config_err.text);
    return kept;
}

/* ---- --print-config */

static char *print(const struct config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    config_print(config, out);
    fclose(out);
    return text;
}

/* Its printed form is read as the same configuration. */
static void assert_round(const struct config *config)
{
    char *text = print(config);
    const struct config *again = config_of(text);
    const char *difference = config_difference(config, again);

    ck_assert_msg(difference == NULL, "%s differs in:\n%s", difference, text);
    free(text);
}

CASE("printed", config_files_begin, end);

TEST(defaults_are_read_back)
{
    assert_round(keep(""));
}

static const char full[] =
    "redis = { url = \"redis://me@[::1]:6380/3\"; password_file = \"%s\"; prefix = \"x:y\"; };\n"
    "state_dir = \"/srv/later d\"; lease = 1.5; timeout = 0.1; grace = 0.3; drain = 604800;\n"
    "workers = 3; events = 7; retry = { max_attempts = 2; base = 1e-7; max = 315360000; jitter = "
    "0.1; attempts_max = 30; wait_min = 0.5; };\n"
    "queues = ( { name = \"a\"; weight = 10; }, { name = \"b\"; weight = 1; max_running = 9; "
    "max_jobs = 1000000000000; events_kept = 1000000; logs_kept = 100; on_dead = \"qx\"; } );\n"
    "timeout_max = 4000; crash_max = 5; unknown_max = 7.5; recycle = { jobs = 100; memory = 512; "
    "age = "
    "0.30000000000000004; }; stop_after = 12;\n"
    "types = ( { name = \"v.*\"; timeout = 9; exclusive = \"type\"; max_running = 2; }, { name = "
    "\"w\"; backoff = ( 1, 2.5, 0 ); },\n"
    "          { name = \"v.x\"; base = 0; max = 0; jitter = 1; max_attempts = 1;\n"
    "            timeout_max = 9; attempts_max = 7; wait_min = 1; on_dead = \"x\"; on_done = "
    "\"y\"; } );\n"
    "dead = { max = 1000000000000; days = 0.1; };\n"
    "keep = { max = 7; };\n"
    "flows = { keep = 3600.5; };\n"
    "groups = ( { queue = \"q\"; max_running = 2; },\n"
    "           { queue = \"q\"; group = \"a@b\"; weight = 0.5; } );\n"
    "limits = ( { type = \"v*\"; max = 1; per = 0.001; window = \"fixed\"; },\n"
    "           { queue = \"b\"; member = \"to\"; max = 1000000; per = 86400; } );\n"
    "document = { max = 2048; };\n"
    "plugins = { dir = \"/\"; load = ( \"m\", \"n-2\" ); config = {\n"
    "  n = { };\n"
    "  m = { s = \"\"; q = \"a \\\"b\\\" \\\\ c\\n\\t\\x1b[0m \xc3\xa4 # /* 7 */\"; b = true;\n"
    "        l = ( { x = 1; y = ( 2, { }, ( ), { z = [ 3, 4 ]; } ); }, \"t\", ( ) );\n"
    "        long = ( 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ); g = { h = { i-j_k* = -1.5; }; }; };\n"
    "}; };\n"
    "log = { level = \"debug\"; format = \"json\"; rate = 7; };\n"
    "history = \"off\";\n";

static const struct config *keep_full(void)
{
    char text[4096];

    config_put("password", "secret\n");
    ck_assert_int_eq(chmod(config_path("password"), 0600), 0);
    snprintf(text, sizeof text, full, config_path("password"));
    return keep(text);
}

TEST(all_options_are_read_back)
{
    const struct config *config = keep_full(), *defaults = config_of("");

    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope == CONFIG_IN_TOP && row->kind != CONFIG_MANY && row->offset < sizeof *config)
            ck_assert_msg(!config_row_equal(row, config, defaults), "%s: a default", row->path);
    }
    assert_round(config);
}

TEST(pools_are_read_back)
{
    assert_round(keep("pools = ( { name = \"a\"; queues = ( { name = \"q\"; } ); workers = 2; },\n"
                      "          { name = \"b\"; queues = ( { name = \"r\"; weight = 2; },\n"
                      "            { name = \"q\"; weight = 1; } ); memory_max = 512;\n"
                      "            files_max = 100; } );"));
}

/* As in the file: with the option, without the queues that it makes. */
TEST(shards_are_read_back)
{
    const struct config *c =
        keep("queues = ( { name = \"a\"; shards = 4; }, { name = \"b\"; }, { name = \"c\";\n"
             "shards = 1; max_running = 2; } );");
    char *text = print(c);

    ck_assert_uint_eq(c->pools->queue_count, 7);
    ck_assert_ptr_nonnull(strstr(text, "shards = 4;"));
    ck_assert_ptr_nonnull(strstr(text, "shards = 1;"));
    ck_assert_ptr_null(strstr(text, "a/"));
    free(text);
    assert_round(c);
}

TEST(shards_in_pools_are_read_back)
{
    assert_round(keep("pools = ( { name = \"p\"; queues = ( { name = \"a\"; shards = 2; } ); },\n"
                      "          { name = \"r\"; queues = ( { name = \"b\"; weight = 1; },\n"
                      "            { name = \"a\"; weight = 3; shards = 2; } ); } );"));
}

/* What a plan in Redis has added is not in the file. */
TEST(added_shards_are_not_printed)
{
    char *text, *before;

    (void)keep("queues = ( { name = \"a\"; }, { name = \"b\"; } );");
    before = print(kept);
    ck_assert_int_eq(config_widen_one(kept, "a", 3), 0);
    text = print(kept);
    ck_assert_str_eq(text, before);
    free(text);
    free(before);
}

/* One pool that workers and queues cannot say. */
/* In the order of the list, whatever they match. */
TEST(patterns_are_printed_in_their_places)
{
    static const char rows[] =
        "queues = (\n"
        "    { name = \"a-*\"; weight = 3; max_running = 2; events_kept = 0; logs_kept = 0; },\n"
        "    { name = \"b\"; weight = 2; shards = 2; events_kept = 0; logs_kept = 0; },\n"
        "    { name = \"*\"; weight = 1; events_kept = 0; logs_kept = 0; }\n"
        ");";
    struct config *config;
    uint32_t pool;
    char *text;

    config_put("patterns.conf", rows);
    config = config_load(config_path("patterns.conf"), &config_err);
    ck_assert_msg(config != NULL, "%s", config_err.text);
    ck_assert_int_eq(config_follow(config, "a-1", false, &pool), CONFIG_FOLLOW_ADDED);
    text = print(config);
    ck_assert_msg(strstr(text, rows) != NULL, "%s", text);
    free(text);
    config_free(config);
}

/* With each option that only a pool has. */
TEST(a_default_pool_with_a_limit_is_read_back)
{
    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];
        char text[200], *printed;

        if (row->scope != CONFIG_IN_POOL || row->max <= 0 || row->kind == CONFIG_NAME ||
            strcmp(row->path, "pools.workers") == 0)
            continue;
        snprintf(text, sizeof text,
                 "pools = ( { name = \"default\"; queues = ( { name = \"q\"; } ); %s = %.0f; } );",
                 strchr(row->path, '.') + 1, row->max);
        assert_round(keep(text));
        printed = print(kept);
        ck_assert_msg(strstr(printed, "\npools = (") != NULL, "%s", printed);
        free(printed);
        config_free(kept);
        kept = NULL;
    }
}

TEST(a_pool_with_a_name_is_read_back)
{
    assert_round(keep("pools = ( { name = \"a\"; queues = ( { name = \"q\"; } ); } );"));
}

TEST(each_option_is_printed_with_its_help)
{
    char *text = print(keep("")), summary[400];

    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];

        if (row->scope != CONFIG_IN_TOP)
            continue;
        config_text_summary(row, summary, sizeof summary);
        ck_assert_msg(strstr(text, row->help) != NULL, "%s: no help", row->path);
        ck_assert_msg(strstr(text, summary) != NULL, "%s: no \"%s\"", row->path, summary);
    }
    free(text);
}

/* ---- etc/laterd.conf */

CASE("shipped", config_files_begin, end);

TEST(shipped_file_is_the_defaults)
{
    const struct config *defaults = keep("");
    char *text = config_source("etc/laterd.conf");
    const char *difference = config_difference(defaults, config_of(text));

    ck_assert_msg(difference == NULL, "etc/laterd.conf: %s is not the default", difference);
    free(text);
}

/* Is there a line "KEY =", possibly after a #, from text up to end? */
static bool has_key(const char *text, const char *end, const char *key)
{
    for (const char *line = text; line && line < end; line = strchr(line, '\n')) {
        line += strspn(line, "\n #");
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        line += strlen(key);
        if (line[strspn(line, " ")] == '=')
            return true;
    }
    return false;
}

TEST(shipped_file_has_each_option)
{
    char *text = config_source("etc/laterd.conf"), open[64];

    for (size_t i = 0; i < config_table_count; i++) {
        const struct config_row *row = &config_table[i];
        const char *dot = strchr(row->path, '.'), *from = text, *to = text + strlen(text);

        if (row->scope != CONFIG_IN_TOP)
            continue;
        if (dot) {
            snprintf(open, sizeof open, "\n%.*s = {", (int)(dot - row->path), row->path);
            from = strstr(text, open);
            ck_assert_msg(from != NULL, "etc/laterd.conf: no group for %s", row->path);
            to = strstr(from, "\n};");
            from = strchr(from + 1, '\n');
        }
        ck_assert_msg(has_key(from, to, dot ? dot + 1 : row->path), "etc/laterd.conf: no %s",
                      row->path);
    }
    free(text);
}

/* ---- doc/laterd.conf.5 */

/* The item of an option says what the table says. Directories depend on how laterd was built. */
static void assert_item(const char *manual, const struct config_row *row)
{
    char head[100], summary[400];
    const char *item, *next, *said;

    snprintf(head, sizeof head, "\n.It Ic %s\n", row->path);
    item = strstr(manual, head);
    ck_assert_msg(item != NULL, "laterd.conf.5: no item %s", row->path);
    next = strstr(item + 1, "\n.It Ic ");
    config_text_summary(row, summary, sizeof summary);
    summary[0] = (char)toupper((unsigned char)summary[0]);
    if (row->text && row->text[0] == '/')
        strcpy(summary, row->fixed ? "; restart.\n" : "; HUP.\n");
    said = strstr(item, summary);
    ck_assert_msg(said && (!next || said < next), "laterd.conf.5: %s is not \"%s\"", row->path,
                  summary);
}

CASE("manual", config_files_begin, end);

TEST(manual_has_each_option)
{
    char *text = config_source("doc/laterd.conf.5");
    size_t items = 0;

    for (size_t i = 0; i < config_table_count; i++)
        assert_item(text, &config_table[i]);
    for (const char *item = text; (item = strstr(item, "\n.It Ic ")); item++)
        items++;
    ck_assert_uint_eq(items, config_table_count);
    free(text);
}

TEST(manual_examples_can_be_loaded)
{
    char *text = config_source("doc/laterd.conf.5"), *at, *stop, *block, *ends;
    int count = 0;

    at = strstr(text, "\n.Sh EXAMPLES\n");
    stop = strstr(text, "\n.Sh DIAGNOSTICS\n");
    ck_assert(at && stop && at < stop);
    while ((block = strstr(at, "\n.Bd -literal -offset indent\n")) && block < stop) {
        block = strchr(block + 1, '\n') + 1;
        ends = strstr(block, "\n.Ed");
        *ends = '\0';
        config_of(block);
        at = ends + 1;
        count++;
    }
    ck_assert_int_eq(count, 2);
    free(text);
}
