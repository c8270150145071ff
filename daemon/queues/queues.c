/* queues.c: the queues of this host, each once. */
#include "queues/queues.h"

#include <stdlib.h>
#include <string.h>

struct queues *queues_new(struct event_base *base, const struct config *config, struct link *link,
                          const struct queues_options *options)
{
    struct queues *queues = calloc(1, sizeof *queues);

    if (!queues)
        return NULL;
    *queues = (struct queues){ .options = *options, .base = base, .config = config, .link = link };
    strcpy(queues->prefix, config->redis.prefix);
    return queues;
}

void queues_free(struct queues *queues)
{
    if (!queues)
        return;
    later_names_free(&queues->names, free);
    free(queues);
}

struct queue *queues_find(const struct queues *queues, const char *name)
{
    return later_names_find(&queues->names, name);
}

struct queue *queues_at(const struct queues *queues, uint32_t i)
{
    return queues->names.items[i];
}

struct queue *queues_need(struct queues *queues, const char *name)
{
    struct queue *queue = queues_find(queues, name);

    if (queue || !(queue = calloc(1, sizeof *queue)))
        return queue;
    queue->queues = queues;
    later_keys_init(&queue->keys, queues->prefix, name);
    if (later_names_add(&queues->names, queue->keys.queue, queue))
        return queue;
    free(queue);
    return NULL;
}

const char *queues_fault(const struct queues *queues,
                         const struct fault *(*of)(const struct queue *queue))
{
    const char *why = NULL;

    for (uint32_t i = 0; i < queues->names.count && !why; i++) {
        const struct queue *queue = queues_at(queues, i);

        why = queue->config ? fault_text(of(queue)) : NULL;
    }
    return why;
}

bool queue_is_shard(const struct queue *queue)
{
    return strchr(queue->keys.queue, '/') != NULL;
}

struct queue_call {
    struct queue *queue;
    later_answer_fn *fn;
    void *arg;
};

static void queue_on_answer(void *arg, struct later_answer *answer)
{
    struct queue_call call = *(struct queue_call *)arg;

    free(arg);
    call.queue->open--;
    if (call.fn)
        call.fn(call.arg, answer);
}

int queue_send(struct queue *queue, struct later_command *cmd, later_answer_fn *fn, void *arg)
{
    struct queue_call *call = malloc(sizeof *call);

    if (!call) {
        later_command_free(cmd);
        return -1;
    }
    *call = (struct queue_call){ .queue = queue, .fn = fn, .arg = arg };
    if (link_send(queue->queues->link, cmd, LINK_TIMEOUT, queue_on_answer, call) < 0) {
        free(call);
        return -1;
    }
    queue->open++;
    return 0;
}
