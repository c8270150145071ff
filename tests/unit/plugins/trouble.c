/* trouble.c: everything that a plugin can say wrongly about itself. $TROUBLE chooses. */
#include <later/job.h>

#include <stdlib.h>
#include <string.h>

LATER_HIDDEN const struct later_host *later_host;

static enum later_result perform(struct later_job *job)
{
    (void)job;
    return LATER_DONE;
}

static char long_type[130];
static struct later_type types[1100];
static struct later_plugin plugin = { .api = LATER_API,
                                      .size = sizeof(struct later_plugin),
                                      .type_size = sizeof(struct later_type),
                                      .name = "trouble",
                                      .types = types };

static void many_types(size_t count)
{
    static char names[1100][8];

    for (size_t i = 0; i < count; i++) {
        names[i][0] = 't';
        for (size_t n = i, at = 1; at <= 4; at++, n /= 10)
            names[i][at] = (char)('0' + n % 10);
        types[i] = (struct later_type){ .name = names[i], .perform = perform };
    }
}

static void set_up(const char *what, const char *text)
{
    types[0] = (struct later_type){ .name = "trouble", .perform = perform };
    if (strcmp(what, "api") == 0)
        plugin.api = 7;
    else if (strcmp(what, "small") == 0)
        plugin.size = offsetof(struct later_plugin, types);
    else if (strcmp(what, "huge") == 0)
        plugin.size = 4097;
    else if (strcmp(what, "type small") == 0)
        plugin.type_size = offsetof(struct later_type, perform);
    else if (strcmp(what, "type huge") == 0)
        plugin.type_size = 8192;
    else if (strcmp(what, "type odd") == 0)
        plugin.type_size = sizeof(struct later_type) + 1;
    else if (strcmp(what, "name") == 0)
        plugin.name = text;
    else if (strcmp(what, "no name") == 0)
        plugin.name = NULL;
    else if (strcmp(what, "no list") == 0)
        plugin.types = NULL;
    else if (strcmp(what, "no types") == 0)
        types[0].name = NULL;
    else if (strcmp(what, "type") == 0)
        types[0].name = text;
    else if (strcmp(what, "long type") == 0)
        types[0].name = memset(long_type, 'x', sizeof long_type - 1);
    else if (strcmp(what, "no perform") == 0)
        types[0].perform = NULL;
    else if (strcmp(what, "mode") == 0)
        types[0].mode = 2;
    else if (strcmp(what, "twice") == 0)
        types[1] = types[0];
    else if (strcmp(what, "1024 types") == 0)
        many_types(1024);
    else if (strcmp(what, "1025 types") == 0)
        many_types(1025);
}

LATER_EXPORT const struct later_plugin *later_plugin_open(const struct later_host *host)
{
    const char *what = getenv("TROUBLE"), *text = getenv("TROUBLE_TEXT");

    later_host = host;
    set_up(what ? what : "", text ? text : "");
    return what && strcmp(what, "null") == 0 ? NULL : &plugin;
}
