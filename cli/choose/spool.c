/* spool.c: notes which jobs were chosen. */
#include "choose/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCORE_SIZE 32

/* Where jobs are. It is written only if it differs from that of the job before. */
struct origin {
    later_queue_name whole, part;
    char token[LATER_TOKEN_LEN + 1];
    enum later_key set;
};

/* What is written before each member. */
struct head {
    bool moves; /* another origin comes before the member */
    char score[SCORE_SIZE];
    size_t len;
};

struct spool {
    FILE *file;
    struct origin origin;
    bool has_head; /* a head was read that belongs to the next batch */
    struct head head;
    struct later_acted jobs[LATER_BATCH_MAX];
    char scores[LATER_BATCH_MAX][SCORE_SIZE];
    char *members; /* one after the other */
    size_t room;
};

struct spool *spool_new(struct later_error *err)
{
    struct spool *spool = calloc(1, sizeof *spool);

    if (spool)
        spool->file = tmpfile();
    if (spool && spool->file)
        return spool;
    later_fail(err, LATER_E_SYSTEM, "a temporary file: %s", strerror(spool ? errno : ENOMEM));
    free(spool);
    return NULL;
}

void spool_free(struct spool *spool)
{
    if (!spool)
        return;
    fclose(spool->file);
    free(spool->members);
    free(spool);
}

static int spool_fail(struct later_error *err)
{
    return later_fail(err, LATER_E_SYSTEM, "the temporary file: %s", strerror(errno));
}

int spool_add(struct spool *spool, const char *whole, const struct chosen *chosen,
              struct later_error *err)
{
    struct head head = { .len = chosen->len };
    struct origin origin;

    memset(&origin, 0, sizeof origin); /* origins are compared as bytes, so the padding must be 0 */
    origin.set = chosen->set;
    snprintf(origin.whole, sizeof origin.whole, "%s", whole);
    snprintf(origin.part, sizeof origin.part, "%s", chosen->keys->queue);
    snprintf(origin.token, sizeof origin.token, "%s", chosen->token);
    snprintf(head.score, sizeof head.score, "%s", chosen->score);
    head.moves = memcmp(&origin, &spool->origin, sizeof origin) != 0;
    spool->origin = origin;
    if (fwrite(&head, sizeof head, 1, spool->file) != 1 ||
        (head.moves && fwrite(&origin, sizeof origin, 1, spool->file) != 1) ||
        fwrite(chosen->member, 1, chosen->len, spool->file) != chosen->len)
        return spool_fail(err);
    return 0;
}

int spool_rewind(struct spool *spool, struct later_error *err)
{
    if (fflush(spool->file) != 0)
        return spool_fail(err);
    rewind(spool->file);
    spool->has_head = false;
    return 0;
}

/* Reads the head of the next job. It stays there until it is used. Returns as spool_next(). */
static int read_head(struct spool *spool, struct later_error *err)
{
    if (spool->has_head)
        return 1;
    if (fread(&spool->head, sizeof spool->head, 1, spool->file) == 1) {
        spool->has_head = true;
        return 1;
    }
    return ferror(spool->file) ? spool_fail(err) : 0;
}

/* Reads its member and puts it after `used` bytes of others. */
static int spool_read_member(struct spool *spool, size_t used, struct later_error *err)
{
    size_t len = spool->head.len;

    if (used + len > spool->room) {
        size_t room = used + len > SPOOL_BYTES ? used + len : SPOOL_BYTES;
        char *members = realloc(spool->members, room);

        if (!members)
            return later_fail(err, LATER_E_SYSTEM, "no memory");
        spool->members = members;
        spool->room = room;
    }
    if (fread(spool->members + used, 1, len, spool->file) != len)
        return spool_fail(err);
    spool->has_head = false;
    return 0;
}

int spool_next(struct spool *spool, size_t most, struct spool_batch *batch, struct later_error *err)
{
    size_t used = 0, count = 0;
    int more;

    while ((more = read_head(spool, err)) > 0 && count < most &&
           (count == 0 || (!spool->head.moves && used + spool->head.len <= SPOOL_BYTES))) {
        if (spool->head.moves && fread(&spool->origin, sizeof spool->origin, 1, spool->file) != 1)
            return spool_fail(err);
        memcpy(spool->scores[count], spool->head.score, SCORE_SIZE);
        spool->jobs[count].len = spool->head.len;
        if (spool_read_member(spool, used, err) < 0)
            return -1;
        used += spool->jobs[count++].len;
    }
    if (more < 0)
        return -1;
    used = 0;
    /* The buffer may have moved, so members[] is set last. */
    for (size_t i = 0; i < count; i++) {
        spool->jobs[i].id = spool->members + used;
        spool->jobs[i].score = spool->scores[i];
        used += spool->jobs[i].len;
    }
    *batch = (struct spool_batch){ .whole = spool->origin.whole,
                                   .part = spool->origin.part,
                                   .token = spool->origin.token,
                                   .set = spool->origin.set,
                                   .jobs = spool->jobs,
                                   .count = count };
    return count > 0;
}
