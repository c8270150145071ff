/* filter_regex.c: a regular expression, and what it may cost. */
#include "job/filter_regex.h"

#include <malloc.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNTS_MAX 2    /* in braces; nested ones multiply */
#define COUNT_MAX  255  /* the largest of them */
#define GROWN_MAX  2000 /* bytes, times all counts */

/* Seconds of processor time. A search of a text takes some microseconds. */
#define FIRST  0.05   /* for all texts together, */
#define EACH   0.0005 /* and for each search */
#define FORGET 0.05   /* after which what glibc remembers of the texts is thrown away */
#ifdef REG_STARTEND
#define PART 64 /* bytes of a text that are searched first */
#else           /* musl searches in linear time and keeps nothing, so it gets the whole text */
#define PART         SIZE_MAX
#define REG_STARTEND 0
#endif

/* Bytes that glibc has taken to remember what it built: a fast processor takes 100 MiB in the time
 * above. Each part of a text can take as much again as all parts before it. */
#define KEPT_MAX  (4 << 20) /* from one text to the next */
#define TAKEN_MAX (8 << 20) /* within a text */
#define LOOK      0.0005    /* seconds of search after which the heap is looked at */

struct later_filter_regex {
    char *text;
    regex_t compiled;
    double spent, allowed; /* seconds; FIRST and EACH */
    double remembered;     /* seconds since it was compiled, */
    double looked;         /* when the heap was last looked at */
    size_t empty, taken;   /* bytes of the heap when it was compiled, and more since then */
    bool gave_up;
};

/* --- before --- */

/* Returns the larger number of "{m,n}", which begins after the brace. */
static unsigned long filter_regex_count_of(const char *text)
{
    char *end;
    unsigned long from = strtoul(text, &end, 10), to = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;

    return from > to ? from : to;
}

/* glibc takes exponential time for back-references, and memory by the product of nested counts.
 * Braces that are no counts only make the estimate larger. */
static bool is_costly(const char *text)
{
    unsigned long counts = 0, size = strlen(text);

    for (; *text; text++) {
        unsigned long count = *text == '{' ? filter_regex_count_of(text + 1) : 0;

        counts += *text == '{';
        if (count > COUNT_MAX || (*text == '\\' && text[1] >= '1' && text[1] <= '9'))
            return true;
        size *= count > 1 ? count : 1;
        if (counts > COUNTS_MAX || (counts > 0 && size > GROWN_MAX))
            return true;
        text += *text == '\\' && text[1];
    }
    return false;
}

/* Returns the bytes in use. A sanitizer's heap has no such figure, nor has musl's: then only time
 * counts. */
static size_t heap_size(void)
{
#ifdef __GLIBC__
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static int compile(struct later_filter_regex *regex)
{
    regex->remembered = regex->looked = 0;
    regex->taken = 0;
    regex->empty = heap_size();
    return regcomp(&regex->compiled, regex->text, REG_EXTENDED | REG_NOSUB);
}

struct later_filter_regex *later_filter_regex_new(const char *text, struct later_error *err)
{
    struct later_filter_regex *regex;
    char why[160];
    int wrong;

    if (is_costly(text)) {
        later_fail(err, LATER_E_USAGE,
                   "--error: too costly: no \\1 to \\9, and at most two counts in braces, up to "
                   "%d each and %d when multiplied with each other and the length",
                   COUNT_MAX, GROWN_MAX);
        return NULL;
    }
    regex = calloc(1, sizeof *regex);
    wrong = regex && (regex->text = strdup(text)) ? compile(regex) : REG_ESPACE;
    if (wrong == 0)
        return regex;
    regerror(wrong, regex ? &regex->compiled : NULL, why, sizeof why);
    later_fail(err, LATER_E_USAGE, "--error: %.40s: %s", text, why);
    if (regex)
        free(regex->text);
    free(regex);
    return NULL;
}

void later_filter_regex_free(struct later_filter_regex *regex)
{
    if (!regex)
        return;
    if (!regex->gave_up)
        regfree(&regex->compiled);
    free(regex->text);
    free(regex);
}

/* --- while it searches --- */

static double processor_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Throws away what glibc remembers of the texts. */
static void filter_regex_forget(struct later_filter_regex *regex)
{
    regfree(&regex->compiled);
    regex->gave_up = regex->gave_up || compile(regex) != 0;
}

static void look_at_heap(struct later_filter_regex *regex)
{
    size_t now = heap_size();

    regex->looked = regex->remembered;
    regex->taken = now > regex->empty ? now - regex->empty : 0;
}

static void account(struct later_filter_regex *regex, double seconds, bool failed)
{
    regex->spent += seconds;
    regex->allowed += EACH;
    regex->remembered += seconds;
    if (regex->remembered - regex->looked > LOOK)
        look_at_heap(regex);
    regex->gave_up = failed || regex->spent > FIRST + regex->allowed || regex->taken > TAKEN_MAX;
    if (regex->gave_up)
        regfree(&regex->compiled);
    else if (regex->remembered > FORGET)
        filter_regex_forget(regex);
}

/* Searches the first bytes of the text. */
static bool filter_regex_search(struct later_filter_regex *regex, const char *text, size_t len)
{
    regmatch_t part = { .rm_so = 0, .rm_eo = (regoff_t)len };
    double began = processor_time();
    int result = regexec(&regex->compiled, text, 1, &part, REG_STARTEND);

    account(regex, processor_time() - began, result != 0 && result != REG_NOMATCH);
    return result == 0;
}

/* A search cannot be stopped. So it begins with a part, and what that takes tells whether the next
 * one, twice as long, should be tried. glibc remembers what it has built, so this costs little.
 * Only the last search counts: a part may have another end. */
bool later_filter_regex_found(struct later_filter_regex *regex, const char *text)
{
    size_t len = strlen(text), part = PART;

    if (!regex->gave_up && regex->taken > KEPT_MAX)
        filter_regex_forget(regex);
    while (!regex->gave_up && part < len && !filter_regex_search(regex, text, part))
        part *= 2;
    return !regex->gave_up && filter_regex_search(regex, text, len);
}

bool later_filter_regex_gave_up(const struct later_filter_regex *regex)
{
    return regex->gave_up;
}
