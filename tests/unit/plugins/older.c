/* older.c: a plugin whose header ended with .types and .perform. The host may not read what lies
 * behind its structs. */
#include <later/job.h>

LATER_HIDDEN const struct later_host *later_host;

struct older_type {
    const char *name;
    uint32_t mode, reserved;
    enum later_result (*perform)(struct later_job *job);
};

struct older_plugin {
    uint32_t api, size, type_size, reserved;
    const char *name, *version;
    const struct older_type *types;
};

static enum later_result perform(struct later_job *job)
{
    (void)job;
    return LATER_DONE;
}

static const struct older_type types[] = { { "older.one", 0, 0, perform },
                                           { "older.two", 0, 0, perform },
                                           { 0 } };
static const struct {
    struct older_plugin plugin;
    uint64_t behind[16];
} older = { { LATER_API, sizeof(struct older_plugin), sizeof(struct older_type), 0, "older", "0.1",
              types },
            { 0xdeaddead, 0xdeaddead, 0xdeaddead, 0xdeaddead, 0xdeaddead, 0xdeaddead } };

LATER_EXPORT const struct later_plugin *later_plugin_open(const struct later_host *host)
{
    later_host = host;
    return (const struct later_plugin *)&older.plugin;
}
