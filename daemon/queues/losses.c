/* losses.c: notices a Redis that came back with less than it had. */
#include "queues/losses.h"

#include "base/digest.h"
#include "log.h"
#include "queues/migrator.h"
#include "queues/queues.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REST_EVERY  5            /* beats between two looks at a queue that rests, */
#define SAVE_EVERY  5            /* and between two files */
#define QUEUES_MAX  8704         /* twice as many as are served, since names of before stay */
#define TOLD        3            /* queues in the line of the log */
#define NOTED       100          /* and in later:lost, for each loss */
#define CLOCK_SLACK 5.0          /* seconds by which our notion of Redis's clock may be ahead */
#define TITLE       "counters 1" /* the first line, before which Redis it is about */

struct losses {
    struct queues *queues;
    bool loaded;   /* the file was read */
    uint32_t open; /* looks without an answer */
    uint32_t turn; /* which queue that rests is read next */
    unsigned beats;
    double now;   /* Redis's clock */
    bool compare; /* all, when the clock is known */
    bool changed; /* since the file was written */
    bool all;     /* all queues were asked since the last judgement */
    bool judging; /* it is being asked which queues were forgotten on purpose */
};

/* --- queues --- */

/* Returns the queue, making it if need be. NULL: no memory, or too many names of before. */
static struct queue *losses_need(struct losses *losses, const char *name)
{
    struct queue *queue = queues_find(losses->queues, name);

    if (queue || losses->queues->names.count >= QUEUES_MAX)
        return queue;
    return queues_need(losses->queues, name);
}

/* --- what was seen, over restarts: state_dir/counters; without it nothing is known --- */

static void name_file(const struct losses *losses, const char *end, char path[600])
{
    snprintf(path, 600, "%s/counters%s", losses->queues->config->state_dir, end);
}

/* Says which Redis and which prefix it is about, without a password that the URL may have. */
static void write_title(const struct losses *losses, char title[100])
{
    char url[LATER_URL_SIZE], text[LATER_URL_SIZE + LATER_PREFIX_MAX + 2], hex[LATER_DIGEST_SIZE];

    link_url(losses->queues->config, url, sizeof url);
    later_address_shown(url, text);
    strcat(strcat(text, " "), losses->queues->prefix);
    later_digest(text, strlen(text), hex);
    snprintf(title, 100, TITLE " %s\n", hex);
}

static void losses_read_line(struct losses *losses, const char *line)
{
    char name[LATER_QUEUE_MAX + 1], at[32];
    struct later_sums sums;
    struct queue *queue;

    if (sscanf(line, "%64s %" SCNu64 " %" SCNu64 " %" SCNu64 " %31s", name, &sums.of[0],
               &sums.of[1], &sums.of[2], at) != 5 ||
        !later_key_shard_valid(name) || !(queue = losses_need(losses, name)))
        return;
    queue->sums.known = true;
    queue->sums.last = sums;
    queue->sums.at = strtod(at, NULL);
}

/* NULL: it cannot be opened. */
static FILE *losses_open(const char *path, int flags, const char *mode)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0640);
    FILE *file = fd < 0 ? NULL : fdopen(fd, mode);

    if (!file && fd >= 0)
        close(fd);
    return file;
}

static void losses_load(struct losses *losses)
{
    char path[600], title[100], line[200];
    FILE *file;

    name_file(losses, "", path);
    file = losses_open(path, O_RDONLY, "r");
    if (!file)
        return;
    write_title(losses, title);
    if (fgets(line, sizeof line, file) && strcmp(line, title) == 0) {
        while (fgets(line, sizeof line, file))
            losses_read_line(losses, line);
    }
    fclose(file);
}

static void write_lines(const struct losses *losses, FILE *file)
{
    char title[100];

    write_title(losses, title);
    fputs(title, file);
    for (uint32_t i = 0; i < losses->queues->names.count; i++) {
        const struct queue *queue = queues_at(losses->queues, i);

        if (queue->sums.known)
            fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f\n", queue->keys.queue,
                    queue->sums.last.of[0], queue->sums.last.of[1], queue->sums.last.of[2],
                    queue->sums.at);
    }
}

/* Written beside and renamed, so that a file is whole. Not synced: an old one does no harm. */
static void losses_save(struct losses *losses)
{
    char path[600], beside[600];
    FILE *file;

    name_file(losses, "", path);
    name_file(losses, ".new", beside);
    file = losses_open(beside, O_WRONLY | O_CREAT | O_TRUNC, "w");
    if (!file)
        return;
    losses->changed = false;
    write_lines(losses, file);
    if (fclose(file) == 0)
        (void)rename(beside, path);
}

/* --- a look --- */

static void losses_take(struct queue *queue, const struct later_sums *sums)
{
    struct losses *losses = queue->queues->losses;

    losses->changed = losses->changed || !queue->sums.known ||
                      memcmp(&queue->sums.last, sums, sizeof queue->sums.last) != 0;
    queue->sums.known = queue->config != NULL;
    queue->sums.last = *sums;
    queue->sums.at = losses->now;
    queue->sums.lost = false;
}

/* --- what was lost --- */

/* Lists the next queue from *i on that has lost something; NULL: there is none. */
static struct queue *next_lost(const struct losses *losses, uint32_t *i)
{
    while (*i < losses->queues->names.count) {
        struct queue *queue = queues_at(losses->queues, (*i)++);

        if (queue->sums.lost)
            return queue;
    }
    return NULL;
}

static void losses_describe(const struct queue *queue, struct later_lost *lost)
{
    enum later_sum sum = later_lost_back(&queue->sums.last, &queue->sums.news);

    *lost = (struct later_lost){ .sum = sum,
                                 .before = queue->sums.last.of[sum],
                                 .after = queue->sums.news.of[sum],
                                 .at = queue->queues->losses->now };
    snprintf(lost->queue, sizeof lost->queue, "%s", queue->keys.queue);
    snprintf(lost->host, sizeof lost->host, "%s", queue->queues->options.host);
}

static void losses_note(struct losses *losses, const struct later_lost *lost)
{
    struct later_command cmd = { 0 }, keep = { 0 };

    later_lost_note(&cmd, losses->queues->prefix, lost);
    later_lost_keep(&keep, losses->queues->prefix);
    link_send(losses->queues->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    link_send(losses->queues->link, &keep, LINK_TIMEOUT, NULL, NULL);
}

/* One line for all queues; then what they have now is what counts. */
static void losses_tell(struct losses *losses)
{
    char words[600] = "", more[40] = "";
    struct queue *queue;
    unsigned count = 0;

    for (uint32_t i = 0; (queue = next_lost(losses, &i)); count++) {
        struct later_lost lost;
        size_t len = strlen(words);

        losses_describe(queue, &lost);
        if (count < TOLD)
            snprintf(words + len, sizeof words - len,
                     "%s queue %s: %" PRIu64 " jobs had been %s, now %" PRIu64, count ? ";" : "",
                     lost.queue, lost.before, later_sum_words(lost.sum), lost.after);
        if (count < NOTED)
            losses_note(losses, &lost);
        losses_take(queue, &queue->sums.news);
    }
    if (count > TOLD)
        snprintf(more, sizeof more, "; and %u more queues", count - TOLD);
    if (count > 0)
        log_line(LOG_ERROR,
                 "Redis has lost writes:%s%s; see its own log, and operations.md, \"Lost writes\"",
                 words, more);
    link_flush(losses->queues->link);
}

/* Those that were forgotten after our last look have begun anew. */
static void on_forgotten(void *arg, struct later_answer *answer)
{
    struct losses *losses = arg;
    struct queue *queue;
    size_t n = 0;

    losses->judging = false;
    if (answer->outcome != LATER_ANSWERED && answer->outcome != LATER_REFUSED)
        return; /* the next look finds them again */
    for (uint32_t i = 0; (queue = next_lost(losses, &i)); n++) {
        double at = later_reply_seconds(later_reply_at(answer->reply, n), -1);

        if (at >= 0 && at >= queue->sums.at - CLOCK_SLACK)
            losses_take(queue, &queue->sums.news);
    }
    losses_tell(losses);
}

/* All looks have their answers. What one queue has lost, others may have lost, too: they are looked
 * at before any is told. */
static void losses_judge(struct losses *losses)
{
    struct later_command cmd = { 0 };
    struct queue *queue;
    size_t count = 0;
    bool all = losses->all;

    for (uint32_t i = 0; next_lost(losses, &i);)
        count++;
    losses->all = false;
    if (count == 0 || losses->judging)
        return;
    if (!all)
        losses_compare(losses, losses->now);
    if (losses->open > 0)
        return;
    later_forgotten_ask(&cmd, losses->queues->prefix, count);
    for (uint32_t i = 0; (queue = next_lost(losses, &i));)
        later_command_text(&cmd, queue->keys.queue);
    losses->judging =
        link_send(losses->queues->link, &cmd, LINK_TIMEOUT, on_forgotten, losses) == 0;
    link_flush(losses->queues->link);
}

/* --- looks --- */

static void on_sums(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct losses *losses = queue->queues->losses;
    struct later_sums sums;

    queue->sums.asked = false;
    losses->open--;
    if (answer->outcome == LATER_ANSWERED) {
        later_lost_summed(answer->reply, &sums);
        queue->sums.lost =
            queue->sums.known && later_lost_back(&queue->sums.last, &sums) != LATER_SUMS;
        queue->sums.news = sums;
        if (!queue->sums.lost)
            losses_take(queue, &sums);
    }
    if (losses->open == 0)
        losses_judge(losses);
}

static void losses_ask(struct queue *queue)
{
    struct losses *losses = queue->queues->losses;
    struct later_command cmd = { 0 };

    if (queue->sums.asked || losses->judging)
        return;
    later_lost_ask(&cmd, &queue->keys);
    queue->sums.asked = queue_send(queue, &cmd, on_sums, queue) == 0;
    queue->sums.stirred = queue->sums.stirred && !queue->sums.asked;
    losses->open += queue->sums.asked;
}

void losses_compare(struct losses *losses, double now)
{
    losses->compare = now <= 0;
    if (now <= 0)
        return;
    losses->now = now;
    losses->all = true;
    for (uint32_t i = 0; i < losses->queues->names.count; i++) {
        if (queues_at(losses->queues, i)->config)
            losses_ask(queues_at(losses->queues, i));
    }
    link_flush(losses->queues->link);
}

/* The queue has jobs: its counters may have grown. */
static void losses_told(struct queue *queue, const struct later_migrated *migrated)
{
    queue->sums.stirred = queue->sums.stirred || !migrated->rests;
}

/* One that rests, each in turn. */
static void losses_ask_another(struct losses *losses)
{
    const struct later_names *served = &losses->queues->config->served;
    const struct config_queue *row =
        served->count ? served->items[losses->turn++ % served->count] : NULL;
    struct queue *queue = row ? queues_find(losses->queues, row->name) : NULL;

    if (queue)
        losses_ask(queue);
}

void losses_beat(struct losses *losses, double now)
{
    if (now <= 0 || !link_is_up(losses->queues->link))
        return;
    if (losses->compare)
        losses_compare(losses, now);
    losses->now = now;
    for (uint32_t i = 0; i < losses->queues->names.count; i++) {
        if (queues_at(losses->queues, i)->sums.stirred)
            losses_ask(queues_at(losses->queues, i));
    }
    if (losses->beats++ % REST_EVERY == 0 && !losses->queues->others_look)
        losses_ask_another(losses);
    if (losses->beats % SAVE_EVERY == 0 && losses->changed)
        losses_save(losses);
    link_flush(losses->queues->link);
}

/* --- the service --- */

/* The clock may be known already. */
static void losses_link_up(struct queues *queues)
{
    losses_compare(queues->losses, migrator_redis_now(queues->migrator));
}

static bool losses_busy(const struct queue *queue)
{
    return queue->sums.lost;
}

/* Somebody may forget a queue that is not served, so nothing is known of it any more. At the start
 * a pattern may still find it. */
static void losses_configure(struct queues *queues)
{
    if (!queues->losses->loaded) {
        queues->losses->loaded = true;
        losses_load(queues->losses);
        return;
    }
    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct queue *queue = queues_at(queues, i);

        queue->sums.known = queue->sums.known && queue->config;
    }
}

/* Reads what an earlier laterd on this state_dir saw of the same Redis; losses_free() writes it. */
int losses_new(struct queues *queues, struct later_error *err)
{
    struct losses *losses = calloc(1, sizeof *losses);

    queues->losses = losses;
    if (!losses)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    losses->queues = queues;
    return 0;
}

static void losses_free(struct queues *queues)
{
    struct losses *losses = queues->losses;

    if (losses && losses->changed)
        losses_save(losses);
    free(losses);
    queues->losses = NULL;
}

const struct service losses_service = {
    .unmake = losses_free,
    .busy = losses_busy,
    .configure = losses_configure,
    .link_up = losses_link_up,
    .told = losses_told,
};
