/* commands.c: the table of commands, the options of all of them, and what others call them. */
#include "commands.h"

#include <string.h>

const struct command_group command_groups[] = {
    { "Pushing", { &command_push } },
    { "Flows", { &command_flow } },
    { "Looking",
      { &command_size, &command_peek, &command_show, &command_wait, &command_search,
        &command_export } },
    { "Acting",
      { &command_kick, &command_bury, &command_cancel, &command_edit, &command_move, &command_pause,
        &command_resume, &command_forget } },
    { "Working",
      { &command_work, &command_reserve, &command_ack, &command_release, &command_touch } },
    { "Stock", { &command_stock } },
    { "Locks and limits", { &command_lock, &command_limit, &command_set, &command_unset } },
    { "Handlers", { &command_new } },
    { "Schedules", { &command_cron } },
    { "Watching",
      { &command_events, &command_history, &command_metrics, &command_status, &command_top,
        &command_check } },
    { "Programs and shells", { &command_serve, &command_completion, &command_help } },
    { 0 },
};

const struct args_option global_options[] = {
    { "redis", 0, "URL",
      "unix:/path, redis[s]://[user@]host[:port][/db], sentinel://…, cluster://…" },
    { "prefix", 0, "PREFIX", "what the names of all keys begin with (later)" },
    { "config", 'c', "FILE", "the configuration that says where Redis is" },
    { "daemon-config", 'C', "FILE", "the daemon's configuration, if not in its usual place" },
    { "json", 0, NULL, "one JSON object a line" },
    { "help", 'h', NULL, "this help" },
    { "version", 'V', NULL, "the version of later" },
    { 0 },
};

/* Words that other programs use, and the command that does it. */
static const struct foreign {
    const char *word, *command;
} foreign_words[] = {
    { "retry", "kick" },
    { "requeue", "kick" },
    { "delete", "cancel" },
    { "del", "cancel" },
    { "rm", "cancel" },
    { "remove", "cancel" },
    { "kill", "cancel" },
    { "purge", "cancel -q Q --state STATE" },
    { "mv", "move" },
    { "transfer", "move" },
    { "flush", "cancel -q Q --state STATE" },
    { "clear", "cancel -q Q --state STATE" },
    { "stats", "size" },
    { "stat", "size" },
    { "info", "status" },
    { "ls", "size --names" },
    { "list", "size --names" },
    { "queues", "size --names" },
    { "jobs", "peek" },
    { "inspect", "show" },
    { "get", "show" },
    { "logs", "history" },
    { "log", "history" },
    { "ps", "status" },
    { "workers", "status" },
    { "monitor", "top" },
    { "result", "wait --timeout 0" },
    { "count", "search --count" },
    { "find", "search" },
    { "locks", "lock" },
    { "return", "release --uncounted" },
    { "done", "ack" },
    { "complete", "ack" },
    { "fail", "release" },
    { "nack", "release" },
    { "add", "push" },
    { "put", "push" },
    { "enqueue", "push" },
    { "worker", "work" },
    { "run", "work" },
    { "unpause", "resume" },
    { "schedule", "cron" },
};

const struct command *command_at(size_t number)
{
    for (const struct command_group *group = command_groups; group->title; group++) {
        for (const struct command *const *c = group->commands; *c; c++) {
            if (number-- == 0)
                return *c;
        }
    }
    return NULL;
}

static const char *foreign_find(const char *word)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        if (strcmp(foreign_words[i].word, word) == 0)
            return foreign_words[i].command;
    }
    return NULL;
}

const struct command *command_find(const char *name, struct later_error *err)
{
    const char *names[COMMANDS_MAX], *meant = foreign_find(name);
    char words[ARGS_MEANT];
    const struct command *command;
    size_t count = 0;

    for (; (command = command_at(count)); count++) {
        if (strcmp(command->name, name) == 0)
            return command;
        names[count] = command->name;
    }
    if (meant) {
        later_fail(err, LATER_E_USAGE, "no command %s: that is `later %s`", name, meant);
        return NULL;
    }
    meant = args_nearest(name, names, count);
    later_fail(err, LATER_E_USAGE, "no command %.40s%s", name,
               args_meant(words, meant, " (`later help` lists them)"));
    return NULL;
}
