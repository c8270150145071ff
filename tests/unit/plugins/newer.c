/* newer.c: a plugin whose header knows more than this laterd's: both structs have grown. */
#include <later/job.h>

LATER_HIDDEN const struct later_host *later_host;

struct newer_type {
    struct later_type known;
    uint64_t more[3];
};

struct newer_plugin {
    struct later_plugin known;
    void (*reload)(void);
    uint64_t more[4];
};

static enum later_result perform(struct later_job *job)
{
    (void)job;
    return LATER_DONE;
}

static const struct newer_type types[] = {
    { { .name = "newer.one", .perform = perform }, { 1, 2, 3 } },
    { { .name = "newer.two", .perform = perform }, { 4, 5, 6 } },
    { { .name = "newer.three", .mode = LATER_EVENT, .perform = perform }, { 7, 8, 9 } },
    { { 0 }, { 0 } }
};
static const struct newer_plugin newer = { { .api = LATER_API,
                                             .size = sizeof(struct newer_plugin),
                                             .type_size = sizeof(struct newer_type),
                                             .name = "newer",
                                             .version = "9.9",
                                             .types = (const struct later_type *)types },
                                           0,
                                           { 1, 2, 3, 4 } };

LATER_EXPORT const struct later_plugin *later_plugin_open(const struct later_host *host)
{
    later_host = host;
    return &newer.known;
}
