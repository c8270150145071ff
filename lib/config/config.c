/* config.c: what a configuration says about a type of jobs. */
#include "config/config.h"

#include <stdio.h>
#include <string.h>

const struct config_type *config_type_find(const struct config *config, const char *type)
{
    for (uint32_t i = 0; i < config->type_count; i++) {
        if (config_type_matches(config->types[i].name, type))
            return &config->types[i];
    }
    return NULL;
}

void config_policy(const struct config *config, const struct config_type *type,
                   struct later_policy *policy)
{
    *policy =
        (struct later_policy){ .max_attempts = type ? type->max_attempts : config->max_attempts,
                               .crash_max = config->crash_max,
                               .timeout = type ? type->timeout : config->timeout,
                               .backoff = type ? type->backoff : config->backoff,
                               .ceiling = type ? type->ceiling : config->ceiling };
}

void config_limit_name(const struct config_limit *limit, char name[CONFIG_LIMIT_NAME])
{
    const char *counted = limit->by_group ? "group" : limit->member;
    char nth[16] = "";

    if (limit->nth)
        snprintf(nth, sizeof nth, "/%u", (unsigned)limit->nth + 1);
    snprintf(name, CONFIG_LIMIT_NAME, "%s:%s%s%s%s%s", limit->type[0] ? "type" : "queue",
             limit->type[0] ? limit->type : limit->queue, nth, counted[0] ? ":" : "", counted,
             counted[0] ? "=" : "");
}

bool config_is_pattern(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && name[len - 1] == '*';
}

size_t config_type_matches(const char *pattern, const char *type)
{
    size_t len = strlen(pattern);

    if (config_is_pattern(pattern))
        return strncmp(pattern, type, len - 1) == 0 ? len : 0;
    return strcmp(pattern, type) == 0 ? SIZE_MAX : 0;
}
