/* saved.c: searches that are saved under a name. */
#include "choose/saved.h"

#include "choose/choose.h"
#include "output/jsonl.h"
#include "redis/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONDITIONS_MAX 64  /* of one search */
#define COLUMNS_MAX    12  /* that pages show */
#define COLUMN_MAX     128 /* bytes of one */

/* What is saved besides the conditions of a filter. */
static const char *const others[] = { "queue", "number", "columns", NULL };

/* A condition that shows what is in documents or errors. Readers of the pages, for whom some of
 * that is masked, may not see it. */
static bool saved_looks_inside(const char *condition)
{
    static const char *const names[] = { "where:", "text:", "error:", "not:where:", "not:text:" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(condition, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* --- a name, a text --- */

static bool is_line(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

static int saved_check_name(const char *name, struct later_error *err)
{
    if (!*name || strlen(name) > SAVED_NAME_MAX || *name == '-' || !is_line(name))
        return later_fail(err, LATER_E_USAGE,
                          "the name of a search has 1 to %d bytes, is one line, and does not begin "
                          "with -",
                          SAVED_NAME_MAX);
    return 0;
}

/* Each is a name of a job's member, or a path in its document. */
static int saved_check_columns(const char *list, struct later_error *err)
{
    size_t count = 1, len;

    for (;; list += len + 1, count++) {
        len = strcspn(list, ",");
        if (len == 0 || len > COLUMN_MAX || count > COLUMNS_MAX ||
            strspn(list, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]-") <
                len)
            return later_fail(err, LATER_E_USAGE,
                              "--columns: at most %d names with commas between, such as "
                              "id,type,payload.tenant",
                              COLUMNS_MAX);
        if (!list[len])
            return 0;
    }
}

/* Adds `NAME:VALUE` and a newline. The pages put quotes around a value, so it has none. */
static int saved_add(char *text, const char *name, const char *value, struct later_error *err)
{
    size_t len = strlen(text);

    if (!is_line(value) || strchr(value, '"'))
        return later_fail(err, LATER_E_USAGE,
                          "--%s: a value that is saved has no quotation mark and is one line",
                          name);
    if (len + strlen(name) + strlen(value) + 2 > SAVED_TEXT_MAX)
        return later_fail(err, LATER_E_USAGE, "--save: more than %d bytes of conditions",
                          SAVED_TEXT_MAX);
    sprintf(text + len, "%s:%s\n", name, value);
    return 0;
}

/* All that is to be saved. */
static int saved_spell(const struct cli *cli, char *text, struct later_error *err)
{
    const char *value;
    size_t at;

    for (size_t i = 0; others[i]; i++) {
        value = args_text(&cli->args, others[i]);
        if (value && saved_add(text, others[i], value, err) < 0)
            return -1;
    }
    for (size_t i = 0; later_filter_names[i]; i++) {
        at = 0;
        while ((value = args_next(&cli->args, later_filter_names[i], &at))) {
            if (saved_add(text, later_filter_names[i], value, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* --- what is asked of Redis --- */

/* Encodes VERB of the hash, with up to two words. */
static struct later_reply *saved_call(struct cli *cli, const char *verb, const char *name,
                                      const char *text, struct later_error *err)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    if (!cli_client(cli, err))
        return NULL;
    later_key_searches(key, later_call_prefix(cli->client));
    if (text)
        later_command_say(&cmd, "%s %s %s %s", verb, key, name, text);
    else if (name)
        later_command_say(&cmd, "%s %s %s", verb, key, name);
    else
        later_command_say(&cmd, "%s %s", verb, key);
    return cli_call(cli, &cmd, err);
}

/* One too many is taken back, so two who save at once cannot pass the bound together. */
static int saved_write(struct cli *cli, const char *name, const char *text, struct later_error *err)
{
    int64_t added = cli_count(saved_call(cli, "HSET", name, text, err)), count;

    if (added <= 0) /* one that was there is another now */
        return added < 0 ? -1 : 0;
    count = cli_count(saved_call(cli, "HLEN", NULL, NULL, err));
    if (count < 0 || count <= SAVED_MAX)
        return count < 0 ? -1 : 0;
    if (cli_count(saved_call(cli, "HDEL", name, NULL, err)) < 0)
        return -1;
    return later_fail(err, LATER_E_LATER, "%d searches are saved already: drop one with --unsave",
                      SAVED_MAX);
}

static int saved_tell(const struct cli *cli, const char *name, bool saved)
{
    if (!cli->json)
        return 0;
    jsonl_line(stdout, "search:%s saved:%c", name, saved);
    return 0;
}

/* --- saving, dropping --- */

/* The conditions are read as a search would, so that nothing is saved that none can use. */
static int saved_check(struct cli *cli, struct later_error *err)
{
    const char *name = args_text(&cli->args, "save"), *queue = args_text(&cli->args, "queue");
    const char *columns = args_text(&cli->args, "columns");
    struct choice choice;

    if (args_flag(&cli->args, "count") || args_text(&cli->args, "after"))
        return later_fail(err, LATER_E_USAGE,
                          "--save searches for nothing: without --count or "
                          "--after");
    if (saved_check_name(name, err) < 0 || (columns && saved_check_columns(columns, err) < 0))
        return -1;
    if (queue && !later_key_shard_valid(queue))
        return later_call_whole(queue, err);
    if (choose_begin(&choice, cli, false, 0, err) < 0)
        return -1;
    choose_end(&choice);
    return 0;
}

static int saved_keep(struct cli *cli, struct later_error *err)
{
    const char *name = args_text(&cli->args, "save");
    char text[SAVED_TEXT_MAX + 1] = "";

    if (saved_check(cli, err) < 0 || saved_spell(cli, text, err) < 0 ||
        saved_write(cli, name, text, err) < 0)
        return -1;
    return saved_tell(cli, name, true);
}

static int saved_drop(struct cli *cli, struct later_error *err)
{
    const char *name = args_text(&cli->args, "unsave");
    int64_t gone = cli_count(saved_call(cli, "HDEL", name, NULL, err));

    if (gone < 0)
        return -1;
    if (gone == 0)
        return later_fail(err, LATER_E_NONE, "no search is saved as %.64s", name);
    return saved_tell(cli, name, false);
}

/* --- the list --- */

struct saved_one {
    const char *name, *text;
};

static int saved_by_name(const void *a, const void *b)
{
    const struct saved_one *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Splits the text into its lines, those that look inside behind the others. Returns how many there
 * are, *outside of them the others. */
static size_t saved_lines(char *text, const char *lines[CONDITIONS_MAX], size_t *outside)
{
    const char *all[CONDITIONS_MAX] = { NULL };
    size_t count = 0, sorted = 0;

    for (char *rest, *line = strtok_r(text, "\n", &rest); line && count < CONDITIONS_MAX;
         line = strtok_r(NULL, "\n", &rest))
        all[count++] = line;
    for (size_t i = 0; i < count; i++) {
        if (!saved_looks_inside(all[i]))
            lines[sorted++] = all[i];
    }
    *outside = sorted;
    for (size_t i = 0; i < count; i++) {
        if (saved_looks_inside(all[i]))
            lines[sorted++] = all[i];
    }
    return count;
}

static void saved_print(const struct cli *cli, struct table *table, const struct saved_one *one)
{
    const char *lines[CONDITIONS_MAX];
    char text[SAVED_TEXT_MAX + 1], words[SAVED_TEXT_MAX + 1] = "";
    struct jsonl json;
    size_t count, outside, len = 0;

    snprintf(text, sizeof text, "%s", one->text);
    count = saved_lines(text, lines, &outside);
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "search", one->name);
        jsonl_texts(&json, "conditions", lines, outside);
        if (count > outside)
            jsonl_texts(&json, "looks_inside", lines + outside, count - outside);
        jsonl_end(&json);
        return;
    }
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(words + len, sizeof words - len, "%s%s", i ? " " : "", lines[i]);
    table_text(table, PLAIN, one->name);
    table_text(table, PLAIN, words);
}

struct later_reply *saved_read(struct cli *cli, struct later_error *err)
{
    return saved_call(cli, "HGETALL", NULL, NULL, err);
}

static int saved_list(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "NAME", "CONDITIONS", NULL };
    struct later_reply *reply = saved_read(cli, err);
    size_t count = later_reply_count(reply) / 2;
    struct saved_one *all = reply ? calloc(count + 1, sizeof *all) : NULL;
    struct table table;

    if (reply && !all)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    if (all) {
        for (size_t i = 0; i < count; i++) {
            all[i].name = later_reply_text_at(reply, 2 * i);
            all[i].text = later_reply_text_at(reply, 2 * i + 1);
        }
        qsort(all, count, sizeof *all, saved_by_name);
        cli_table(cli, &table, headings);
        for (size_t i = 0; i < count; i++)
            saved_print(cli, &table, &all[i]);
        table_end(&table);
    }
    later_reply_free(reply);
    free(all);
    return all ? 0 : -1;
}

int saved_act(struct cli *cli, struct later_error *err)
{
    const char *save = args_text(&cli->args, "save"), *unsave = args_text(&cli->args, "unsave");
    bool list = args_flag(&cli->args, "saved");

    if (!save && args_text(&cli->args, "columns"))
        return later_fail(err, LATER_E_USAGE, "--columns goes with --save");
    if (!save && !unsave && !list)
        return 1;
    if ((save != NULL) + (unsave != NULL) + list > 1 || cli->args.count > 0)
        return later_fail(err, LATER_E_USAGE,
                          "--save, --saved and --unsave stand alone, and without a NAME before");
    return save ? saved_keep(cli, err) : unsave ? saved_drop(cli, err) : saved_list(cli, err);
}

/* --- using one --- */

bool saved_is_beside(const char *name)
{
    size_t i = 0;

    while (others[i] && strcmp(others[i], name) != 0)
        i++;
    return others[i] != NULL;
}

static int saved_give(struct cli *cli, const char *name, char *line, struct later_error *err)
{
    char *value = strchr(line, ':');
    bool known;

    if (value)
        *value++ = '\0';
    known = saved_is_beside(line);
    for (size_t i = 0; later_filter_names[i]; i++)
        known |= strcmp(later_filter_names[i], line) == 0;
    if (!value || !known)
        return later_fail(err, LATER_E_DATA, "the saved search %.64s has a condition %.40s", name,
                          line);
    if (strcmp(line, "queue") == 0 && args_flag(&cli->args, "all-queues"))
        return 0;
    return args_give(&cli->args, line, value, err);
}

char *saved_use(struct cli *cli, const char *name, struct later_error *err)
{
    struct later_reply *reply = saved_call(cli, "HGET", name, NULL, err);
    char *text = reply ? strdup(later_reply_text(reply, NULL)) : NULL;
    int ok = 0;

    if (reply && later_reply_is_nil(reply))
        ok = later_fail(err, LATER_E_NONE, "no search is saved as %.64s; -q names a queue", name);
    else if (reply && !text)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    later_reply_free(reply);
    for (char *rest, *line = text ? strtok_r(text, "\n", &rest) : NULL; ok == 0 && line;
         line = strtok_r(NULL, "\n", &rest))
        ok = saved_give(cli, name, line, err);
    if (ok == 0 && text && !args_text(&cli->args, "queue") && !args_flag(&cli->args, "all-queues"))
        ok = args_give(&cli->args, "all-queues", "", err);
    if (ok == 0)
        return text;
    free(text);
    return NULL;
}
