/* trouble.c: `later status --trouble`. */
#include "status/trouble.h"

#include "output/jsonl.h"
#include "text.h"

#include <stdlib.h>

#define TROUBLE_STATUS 1

static void trouble_print_json(const struct later_trouble *row)
{
    jsonl_line(
        stdout,
        "rule:%s severity:%s queue:%s host:%s type:%s since:%f count:%jd text:%s why:%s command:%s",
        later_rules[row->rule].name, later_rules[row->rule].severity, text_known(row->queue),
        text_known(row->host), text_known(row->type), text_known_time(row->since), row->count,
        row->text, row->why, row->command);
}

static void trouble_print_row(const struct cli *cli, struct table *table,
                              const struct later_trouble *row)
{
    char since[48];

    table_text(table, row->rule <= LATER_RULE_TYPE_UNKNOWN ? RED : YELLOW,
               later_rules[row->rule].name);
    table_text(table, PLAIN, row->text);
    if (row->since <= 0)
        table_none(table);
    else if (cli->out_terminal)
        table_time(table, PLAIN, row->since);
    else
        table_text(table, PLAIN, text_put_real(since, sizeof since, row->since));
    table_number(table, PLAIN, (uint64_t)row->count);
    table_text(table, PLAIN, row->why);
    table_text(table, PLAIN, row->command);
}

void trouble_show(struct cli *cli, const struct later_troubles *troubles)
{
    static const char *const headings[] = { "RULE", "TROUBLE", "SINCE", ">COUNT",
                                            "WHY",  "COMMAND", NULL };
    struct table table;

    cli_table(cli, &table, headings);
    for (size_t i = 0; i < troubles->count; i++) {
        if (cli->json)
            trouble_print_json(&troubles->rows[i]);
        else
            trouble_print_row(cli, &table, &troubles->rows[i]);
    }
    table_end(&table);
    if (troubles->more)
        cli_say(cli, "%zu more are not named", troubles->more);
}

int trouble_print(struct cli *cli, struct later_error *err)
{
    struct later_troubles troubles = { 0 };
    struct queue_list list = { 0 };
    int ok = queue_list_find(cli, &list, err);

    if (ok == 0)
        ok = trouble_look(cli, &list, NULL, &troubles, err);
    queue_list_free(&list);
    if (ok == 0) {
        trouble_show(cli, &troubles);
        ok = troubles.count > 0 ? TROUBLE_STATUS : LATER_OK;
    }
    free(troubles.rows);
    return ok;
}
