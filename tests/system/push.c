/*
 * push.c: pushes through liblater, as a user's C program does:
 *
 *     push URL QUEUE one|many COUNT TYPE [PAYLOAD [PREFIX]]
 *
 * It pushes COUNT jobs with the ids PREFIX1, PREFIX2 … (prefix "job-"), by COUNT calls of
 * later_push() or by later_push_many(). A %u in PAYLOAD becomes the job's number.
 */
#include <later/client.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct push {
    struct later_new_job *jobs;
    size_t count;
};

static char *numbered(const char *before, size_t number, const char *behind)
{
    char *text;

    if (asprintf(&text, "%s%zu%s", before, number, behind) < 0)
        err(70, "asprintf");
    return text;
}

static char *payload_of(const char *payload, size_t number)
{
    const char *mark = strstr(payload, "%u");
    char *before, *text;

    if (!mark)
        return strdup(payload);
    before = strndup(payload, (size_t)(mark - payload));
    text = numbered(before, number, mark + 2);
    free(before);
    return text;
}

static void make(struct push *push, const char *type, const char *payload, const char *prefix)
{
    push->jobs = calloc(push->count, sizeof *push->jobs);
    if (!push->jobs)
        err(70, "calloc");
    for (size_t i = 0; i < push->count; i++)
        push->jobs[i] = (struct later_new_job){ .type = type,
                                                .payload = payload_of(payload, i + 1),
                                                .id = numbered(prefix, i + 1, "") };
}

static int send_all(const struct push *push, struct later_client *client, const char *queue,
                    const char *how, struct later_error *error)
{
    if (strcmp(how, "many") == 0)
        return later_push_many(client, queue, push->jobs, push->count, NULL, error);
    for (size_t i = 0; i < push->count; i++) {
        if (later_push(client, queue, &push->jobs[i], NULL, NULL, error) < 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct later_error error;
    struct later_client *client;
    struct push push;
    int sent;

    if (argc < 6)
        errx(64, "usage: push URL QUEUE one|many COUNT TYPE [PAYLOAD [PREFIX]]");
    push.count = strtoul(argv[4], NULL, 10);
    make(&push, argv[5], argc > 6 ? argv[6] : "null", argc > 7 ? argv[7] : "job-");
    client = later_client_open(argv[1], &error);
    if (!client)
        errx((int)error.code, "%s", error.text);
    sent = send_all(&push, client, argv[2], argv[3], &error);
    later_client_close(client);
    for (size_t i = 0; i < push.count; i++) {
        free((void *)push.jobs[i].payload);
        free((void *)push.jobs[i].id);
    }
    free(push.jobs);
    if (sent < 0)
        errx((int)error.code, "%s", error.text);
    return 0;
}
