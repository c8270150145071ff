/* acts.c: what was done here. */
#include "tasks/acts.h"

#include "output/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_MAX 4000 /* bytes, as JSON */
#define TOLD_MAX    1000 /* bytes of answers */
#define REST_MAX    2000

struct act {
    unsigned long number;                                    /* 0 = none yet */
    char *who, *command, *path, *queue, *progress, *answers; /* owned; NULL: none, or no memory */
    bool many;
    double began;
    char *row; /* owned; its JSON; NULL = it runs */
};

struct acts {
    struct act rows[ACTS_KEPT]; /* number n is in row n % ACTS_KEPT */
    unsigned long last;
    int fd; /* -1 = there is no file */
};

static void act_clear(struct act *act)
{
    free(act->who);
    free(act->command);
    free(act->path);
    free(act->queue);
    free(act->progress);
    free(act->answers);
    free(act->row);
    *act = (struct act){ 0 };
}

void acts_free(struct acts *acts)
{
    for (size_t i = 0; acts && i < ACTS_KEPT; i++)
        act_clear(&acts->rows[i]);
    if (acts && acts->fd >= 0)
        close(acts->fd);
    free(acts);
}

/* NULL if it was so long ago that another one has its row. */
static struct act *acts_find(struct acts *acts, unsigned long number)
{
    struct act *act = &acts->rows[number % ACTS_KEPT];

    return number > 0 && act->number == number ? act : NULL;
}

/* --- rows --- */

/* Returns the JSON of one, malloc'ed; NULL without memory. end: the members that follow if it has
 * ended, otherwise "". */
static char *act_text(const struct act *act, double ended, const char *end)
{
    struct jsonl json;
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    jsonl_begin(&json, out);
    jsonl_add(&json, "number:%ju who:%s command:%s path:%s queue:%s many:%c began:%f ended:%f",
              (uintmax_t)act->number, act->who, act->command, act->path, act->queue, act->many,
              act->began, ended > 0 ? ended : NAN);
    jsonl_raw(&json, "progress", act->progress ? act->progress : "null");
    fprintf(out, ",\"answers\":[%s]%s}", act->answers ? act->answers : "", end);
    return jsonl_written(out, &text);
}

/* What a full disk refuses is in memory, and in the log. */
static void act_save(const struct acts *acts, unsigned long number, const char *text)
{
    char row[ACT_ROW];
    size_t len = text ? strlen(text) : ACT_ROW;

    if (acts->fd < 0 || len >= ACT_ROW)
        return;
    memset(row, ' ', sizeof row);
    memcpy(row, text, len);
    row[ACT_ROW - 1] = '\n';
    (void)!pwrite(acts->fd, row, sizeof row, (off_t)(number % ACTS_KEPT) * ACT_ROW);
}

static void act_save_present(const struct acts *acts, const struct act *act)
{
    char *text = acts->fd < 0 ? NULL : act_text(act, 0, "");

    act_save(acts, act->number, text);
    free(text);
}

/* --- the file --- */

#define RUNS "\"ended\":null,\"progress\":"
#define LOST ",\"status\":71,\"words\":\"later-web ended in the middle of it\"}"

/* Returns the JSON that is in a row, malloc'ed; NULL if it is none. */
static char *act_read(const char *row)
{
    struct jsonl json;
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    jsonl_begin(&json, out);
    jsonl_foreign(&json, "row", row, ACT_ROW);
    text = jsonl_written(out, &text);
    if (text && strncmp(text, "{\"row\":{\"number\":", 17) == 0) {
        memmove(text, text + 7, len - 6);
        return text;
    }
    free(text);
    return NULL;
}

/* Its end was not seen. */
static char *act_lost(const char *text)
{
    size_t len = strlen(text);
    bool told = len > strlen(LOST) && strcmp(text + len - strlen(LOST), LOST) == 0;
    char *more = NULL;

    if (told || !strstr(text, RUNS) || asprintf(&more, "%.*s" LOST, (int)len - 1, text) < 0)
        return NULL;
    return more;
}

static void acts_load_row(struct acts *acts, size_t i, const char *row)
{
    struct act *act = &acts->rows[i];
    char *text = act_read(row), *lost = text ? act_lost(text) : NULL;

    act->number = text ? strtoul(text + strlen("{\"number\":"), NULL, 10) : 0;
    if (act->number == 0 || act->number % ACTS_KEPT != i) {
        act->number = 0;
        free(lost);
        free(text);
        act_save(acts, i, ""); /* it is empty, or was not written to its end */
        return;
    }
    if (lost) {
        free(text);
        act_save(acts, act->number, lost);
    }
    act->row = lost ? lost : text;
    if (act->number > acts->last)
        acts->last = act->number;
}

/* Returns 0, or -1 with *err. */
static int acts_open(struct acts *acts, const char *file, struct later_error *err)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char row[ACT_ROW];
    off_t all = (off_t)ACTS_KEPT * ACT_ROW, size;

    acts->fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (acts->fd < 0)
        return later_fail(err, LATER_E_CONFIG, "%.200s: %s", file, strerror(errno));
    if (fcntl(acts->fd, F_OFD_SETLK, &lock) < 0)
        return later_fail(err, LATER_E_CONFIG, "%.200s: another later-web has it", file);
    size = lseek(acts->fd, 0, SEEK_END);
    if (size != 0 && size != all)
        return later_fail(err, LATER_E_CONFIG, "%.200s: this is not a file of tasks", file);
    if (ftruncate(acts->fd, all) < 0)
        return later_fail(err, LATER_E_SYSTEM, "%.200s: %s", file, strerror(errno));
    for (size_t i = 0; i < ACTS_KEPT; i++) {
        if (pread(acts->fd, row, sizeof row, (off_t)i * ACT_ROW) == ACT_ROW)
            acts_load_row(acts, i, row);
    }
    return 0;
}

struct acts *acts_new(const char *file, struct later_error *err)
{
    struct acts *acts = calloc(1, sizeof *acts);

    if (!acts) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    acts->fd = -1;
    if (!file || acts_open(acts, file, err) == 0)
        return acts;
    acts_free(acts);
    return NULL;
}

/* --- what happens --- */

/* Returns how many bytes of a text may be kept, so that a row has room for them as JSON. */
static size_t act_room(const char *text)
{
    size_t len = 0, used = 0;

    for (; text[len]; len++) {
        unsigned char c = (unsigned char)text[len];

        used += c < ' ' ? 6 : c == '"' || c == '\\' ? 2 : c > '~' ? 3 : 1;
        if (used > COMMAND_MAX)
            break;
    }
    while (text[len] && len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--; /* not in the middle of a character */
    return len;
}

unsigned long acts_begin(struct acts *acts, const struct act_news *news, double now)
{
    unsigned long number = ++acts->last;
    struct act *act = &acts->rows[number % ACTS_KEPT];

    act_clear(act);
    *act = (struct act){ .number = number,
                         .who = strndup(news->who, ACT_WHO),
                         .command = strndup(news->command, act_room(news->command)),
                         .path = strndup(news->path, 64),
                         .queue = news->queue ? strndup(news->queue, 200) : NULL,
                         .many = news->many,
                         .began = now };
    act_save_present(acts, act);
    return number;
}

static void act_add(struct act *act, const char *line, size_t len)
{
    size_t had = act->answers ? strlen(act->answers) : 0;
    char *text = had + len < TOLD_MAX ? malloc(had + len + 2) : NULL;

    if (!text)
        return;
    snprintf(text, had + len + 2, "%s%s%.*s", had ? act->answers : "", had ? "," : "", (int)len,
             line);
    free(act->answers);
    act->answers = text;
}

void acts_tell(struct acts *acts, unsigned long number, const char *line, size_t len)
{
    static const char *const begins[] = { "{\"acted\":", "{\"searched\":" };
    struct act *act = acts_find(acts, number);

    if (!act || act->row || len >= TOLD_MAX || len == 0 || line[0] != '{')
        return;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (len <= strlen(begins[i]) || memcmp(line, begins[i], strlen(begins[i])) != 0)
            continue;
        free(act->progress);
        act->progress = strndup(line, len);
        act_save_present(acts, act);
        return;
    }
    act_add(act, line, len);
}

void acts_end(struct acts *acts, unsigned long number, const char *rest, double now)
{
    struct act *act = acts_find(acts, number);
    size_t len = strlen(rest);
    char *end = NULL, *row;
    int all;

    if (!act)
        return;
    if (len < REST_MAX)
        all = asprintf(&end, ",%.*s", (int)len - 1, rest);
    else /* its messages are long */
        all = asprintf(&end, ",%.*s,\"words\":\"…\"", (int)strcspn(rest, ","), rest);
    row = all < 0 ? NULL : act_text(act, now, end);
    free(end);
    act_save(acts, number, row);
    act_clear(act);
    *act = (struct act){ .number = row ? number : 0, .row = row };
}

void acts_write(const struct acts *acts, FILE *out)
{
    const char *comma = "";

    putc('[', out);
    for (unsigned long n = acts->last; n > 0 && acts->last - n < ACTS_KEPT; n--) {
        const struct act *act = &acts->rows[n % ACTS_KEPT];
        char *text = act->number == n && !act->row ? act_text(act, 0, "") : NULL;
        const char *shown = act->number == n && act->row ? act->row : text;

        if (shown)
            fprintf(out, "%s%s", comma, shown);
        comma = shown ? "," : comma;
        free(text);
    }
    putc(']', out);
}
