/* status_local.c: `later status --local`. */
#include "status/status.h"

#include "health.h"
#include "output/jsonl.h"

#include <stdio.h>

/* Returns what is wrong, or NULL. */
static const char *fault_of(const struct health_report *health)
{
    if (!health->running)
        return "laterd does not run";
    if (health->heartbeat_age > HEALTH_STILL)
        return "laterd is stuck";
    if (!health->redis_up)
        return "laterd does not reach Redis";
    if (health->fault[0])
        return health->fault;
    if (health->workers == 0)
        return "laterd has no workers";
    return NULL;
}

static void status_local_print_row(const struct cli *cli, const struct health_report *health,
                                   bool well)
{
    static const char *const headings[] = { "STATE", ">PID",    "REDIS", ">WORKERS",
                                            ">BUSY", ">TURNED", NULL };
    struct table table;

    cli_table(cli, &table, headings);
    table_text(&table, well ? GREEN : RED, well ? "healthy" : "unhealthy");
    table_number(&table, PLAIN, health->pid > 0 ? (uint64_t)health->pid : 0);
    table_text(&table, health->redis_up ? PLAIN : RED, health->redis_up ? "up" : "down");
    table_number(&table, PLAIN, health->workers);
    table_number(&table, PLAIN, health->busy);
    table_age(&table, PLAIN, health->heartbeat_age);
    table_end(&table);
}

int status_local(struct cli *cli, struct later_error *err)
{
    struct where_given given = cli_given(cli);
    struct health_report health = { 0 };
    struct config *config = where_state(&given, err);
    const char *fault;
    int ok;

    if (!config)
        return -1;
    ok = health_read(config->state_dir, &health, err);
    config_free(config);
    if (ok < 0 && err->code == LATER_E_NONE)
        err->code = LATER_E_REDIS;
    if (ok < 0)
        return -1;
    fault = fault_of(&health);
    if (cli->json)
        jsonl_line(stdout,
                   "healthy:%c running:%c redis_up:%c workers:%u busy:%u pid:%jd heartbeat_age:%f "
                   "fault:%s reload_refused:%s",
                   !fault, health.running, health.redis_up, health.workers, health.busy, health.pid,
                   health.heartbeat_age, fault, health.reload[0] ? health.reload : NULL);
    else
        status_local_print_row(cli, &health, !fault);
    if (health.running && health.reload[0] && !cli->json)
        cli_say(cli, "the last reload was refused: %s", health.reload);
    if (fault)
        return later_fail(err, LATER_E_REDIS, "%s", fault);
    return LATER_OK;
}
