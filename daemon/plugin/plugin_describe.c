/* plugin_describe.c: shows what a plugin holds, for laterd --describe. */
#include "plugin/plugin.h"

#include "plugin/plugin_open.h"

/* A host without any function: LATER_HAS() answers no for all of them. None is needed to describe a
 * plugin. */
static const struct later_host no_host = { .api = LATER_API,
                                           .size = offsetof(struct later_host, job_string) };

static void describe_callbacks(const struct later_plugin *p, FILE *out)
{
    fprintf(out, "callbacks%s%s%s%s%s\n", p->config ? " config" : "",
            p->config_done ? " config_done" : "", p->start ? " start" : "", p->stop ? " stop" : "",
            p->config || p->config_done || p->start || p->stop ? "" : " none");
}

int plugin_describe(const char *path, FILE *out, struct later_error *err)
{
    struct plugin *plugin = plugin_open(path, &no_host, err);

    if (!plugin)
        return -1;
    fprintf(out, "file      %s\n", plugin->path);
    fprintf(out, "name      %s\n", plugin->name);
    fprintf(out, "version   %s\n", plugin->described.version ? plugin->described.version : "-");
    fprintf(out, "api       %u\n", (unsigned)plugin->described.api);
    describe_callbacks(&plugin->described, out);
    for (size_t i = 0; i < plugin->type_count; i++)
        fprintf(out, "type      %s %s\n", plugin->types[i].name,
                plugin->types[i].type.mode == LATER_EVENT ? "event" : "serial");
    if (plugin->described.config_help)
        fprintf(out, "\n%s\n", plugin->described.config_help);
    plugin_free(plugin);
    return 0;
}
