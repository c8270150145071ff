/* test_filter.c: which jobs match a filter. */
#include "job/filter.h"
#include "job/json_path.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define NOW 1800000000.0

static const char document[] =
    "{\"type\":\"mail.send\",\"id\":\"a\",\"payload\":{\"tenant\":42,\"user\":{\"id\":\"u-7\"},"
    "\"tags\":[\"red\", {\"x\":[1,[2,3]],\"s\":\"a]b,c\\\"]\"} ,true,null,1e2],"
    "\"empty\":[],\"big\":12345678901234567890,\"name\":\"M\\u00fcller\",\"url\":\"http:\\/\\/"
    "b\"}}";

/* A ready job of priority 3 that has waited for an hour and failed twice. */
static const char error[] = "{\"at\":1.5,\"attempt\":2,\"kind\":\"timeout\",\"text\":\"over its "
                            "time: 300 s\",\"host\":\"web-1\"}";

static struct later_filter_job job_in(const char *state, double score)
{
    return (struct later_filter_job){
        .now = NOW,
        .state = state,
        .score = score,
        .record = { .attempts = 2, .priority = 3, .error = error, .error_len = strlen(error) },
        .document = document,
        .document_len = strlen(document)
    };
}

static struct later_filter *made(const char *name, const char *value)
{
    struct later_filter *filter = later_filter_new();
    struct later_error err;

    ck_assert_ptr_nonnull(filter);
    ck_assert_msg(later_filter_add(filter, name, value, &err) == 0, "%s %s: %s", name, value,
                  err.text);
    return filter;
}

static bool meets(const char *name, const char *value, const struct later_filter_job *job)
{
    struct later_filter *filter = made(name, value);
    bool met = later_filter_meets(filter, job);

    later_filter_free(filter);
    return met;
}

struct expected {
    const char *name, *value;
    bool met;
};

static const struct expected ready_table[] = {
    { "state", "ready", true },
    { "state", "dead", false },
    { "type", "mail.send", true },
    { "type", "mail.*", true },
    { "type", "*", true },
    { "type", "*.se?d", true },
    { "type", "*a*l*s*d", true },
    { "type", "mail", false },
    { "type", "mail.send?", false },
    { "type", "Mail.*", false },
    { "type", "", false },
    { "older", "59m", true },
    { "older", "61m", false },
    { "newer", "61m", true },
    { "newer", "59m", false },
    { "error", "^over .* [0-9]+ s$", true },
    { "error", "time|lapse", true },
    { "error", "\\[", false },
    { "error", "^over .{3} ?[0-9a-z: ]{2,}", true },
    { "error", "[0-9a-f]{8}-[0-9a-f]{4}", false },
    { "error", "Over", false },
    { "kind", "timeout", true },
    { "kind", "retry", false },
    { "host", "web-1", true },
    { "host", "web", false },
    { "host", "web-10", false },
    { "attempts", "2", true },
    { "attempts", "=2", true },
    { "attempts", ">1", true },
    { "attempts", ">2", false },
    { "attempts", ">=2", true },
    { "attempts", "<3", true },
    { "attempts", "<2", false },
    { "attempts", "<=2", true },
    { "attempts", "3", false },
    { "priority", "3", true },
    { "priority", ">-3", true },
    { "priority", "<=-3", false },
    { "priority", "0", false },
    { "where", "payload.tenant=42", true },
    { "where", "payload.tenant=42.0", true },
    { "where", "payload.tenant=4.2e1", true },
    { "where", "payload.tenant=4", false },
    { "where", "payload.tenant=042", false },
    { "where", "payload.tenant=", false },
    { "where", "payload.user.id=u-7", true },
    { "where", "payload.user=u-7", false },
    { "where", "payload.user.id.x=u-7", false },
    { "where", "type=mail.send", true },
    { "where", "payload.tags.0=red", true },
    { "where", "payload.tags.1.x.1.1=3", true },
    { "where", "payload.tags.1.s=a]b,c\"]", true },
    { "where", "payload.tags.2=true", true },
    { "where", "payload.tags.3=null", true },
    { "where", "payload.tags.4=100", true },
    { "where", "payload.tags.5=", false },
    { "where", "payload.tags.x=red", false },
    { "where", "payload.tags.99999999999=red", false },
    { "where", "payload.empty.0=", false },
    { "where", "payload.big=12345678901234567890", true },
    { "where", "payload.big=12345678901234567891", false },
    { "where", "payload.name=M\xc3\xbcller", true },
    { "text", "tenant\":42", true },
    { "text", "M\xc3\xbcller", true },
    { "text", "M\\u00fcller", true },
    { "text", "http://b", true },
    { "text", "nowhere", false },
    { "not", "type:mail.*", false },
    { "not", "type:sms.*", true },
    { "not", "state:ready", false },
    { "not", "state:dead", true },
    { "not", "kind:timeout", false },
    { "not", "kind:crash", true },
    { "not", "host:web-1", false },
    { "not", "host:web-2", true },
    { "not", "attempts:>1", false },
    { "not", "attempts:>2", true },
    { "not", "priority:>0", false },
    { "not", "where:payload.tenant=42", false },
    { "not", "where:payload.tenant=43", true },
    { "not", "text:http://b", false },
    { "not", "text:a:b", true },
};

TEST_EACH(test_one_condition, COUNT(ready_table))
{
    const struct expected *row = &ready_table[_i];
    struct later_filter_job job = job_in("ready", NOW - 3600 - 3e6);

    ck_assert_msg(meets(row->name, row->value, &job) == row->met, "--%s '%s' should be %s",
                  row->name, row->value, row->met ? "met" : "not met");
}

/* Of several types or kinds one must be met, of several `not` each. */
TEST(test_some_may_be_met)
{
    struct later_filter *filter = made("type", "sms.*"), *none = made("not", "type:sms.*");
    struct later_filter_job job = job_in("ready", NOW);
    struct later_error err;

    ck_assert(!later_filter_meets(filter, &job));
    ck_assert_int_eq(later_filter_add(filter, "type", "mail.*", &err), 0);
    ck_assert(later_filter_meets(filter, &job));
    ck_assert_int_eq(later_filter_add(filter, "kind", "crash", &err), 0);
    ck_assert(!later_filter_meets(filter, &job));
    ck_assert_int_eq(later_filter_add(filter, "kind", "timeout", &err), 0);
    ck_assert(later_filter_meets(filter, &job));
    for (int i = 3; i <= LATER_FILTER_MANY; i++)
        ck_assert_int_eq(later_filter_add(filter, "type", "x", &err), 0);
    ck_assert_int_eq(later_filter_add(filter, "type", "x", &err), -1);
    ck_assert_str_eq(err.text, "--type: at most 8 of them");
    later_filter_free(filter);

    ck_assert(!later_filter_is_plain(none));
    ck_assert(later_filter_meets(none, &job));
    ck_assert_int_eq(later_filter_add(none, "not", "kind:timeout", &err), 0);
    ck_assert(!later_filter_meets(none, &job));
    later_filter_free(none);

    none = made("not", "type:*");
    job.document = NULL;
    ck_assert(later_filter_meets(none, &job));
    later_filter_free(none);
}

TEST(test_all_must_be_met)
{
    struct later_filter *filter = made("type", "mail.*");
    struct later_filter_job job = job_in("ready", NOW);
    struct later_error err;

    ck_assert_int_eq(later_filter_add(filter, "where", "payload.tenant=42", &err), 0);
    ck_assert_int_eq(later_filter_add(filter, "where", "payload.user.id=u-7", &err), 0);
    ck_assert(later_filter_meets(filter, &job));
    ck_assert_int_eq(later_filter_add(filter, "where", "payload.tenant=43", &err), 0);
    ck_assert(!later_filter_meets(filter, &job));
    later_filter_free(filter);

    filter = later_filter_new();
    ck_assert(later_filter_is_plain(filter));
    ck_assert_ptr_null(later_filter_state(filter));
    ck_assert(later_filter_meets(filter, &job));
    ck_assert_int_eq(later_filter_add(filter, "state", "dead", &err), 0);
    ck_assert_str_eq(later_filter_state(filter), "dead");
    ck_assert(later_filter_is_plain(filter));
    ck_assert_int_eq(later_filter_add(filter, "kind", "bad", &err), 0);
    ck_assert(!later_filter_is_plain(filter));
    later_filter_free(filter);
}

TEST(test_ages)
{
    struct later_filter_job dead = job_in("dead", NOW - 3600);
    struct later_filter_job delayed = job_in("delayed", NOW - 3600);
    struct later_filter_job first = job_in("ready", 0);
    struct later_filter_job odd = job_in("dead", NAN);
    struct later_filter_job done = job_in("done", NOW + 600); /* until when it is kept */
    const struct later_filter_job *ageless[] = { &delayed, &first, &odd };

    ck_assert(meets("older", "59m", &dead) && !meets("older", "61m", &dead));
    for (size_t i = 0; i < 3; i++) {
        ck_assert(!meets("older", "0", ageless[i]) && !meets("newer", "1000d", ageless[i]));
        ck_assert(later_filter_since(ageless[i]) < 0);
    }
    ck_assert(later_filter_since(&done) < 0);
    done.record.finished = "{\"at\":1764000000.5,\"ms\":3}";
    done.record.finished_len = strlen(done.record.finished);
    ck_assert_double_eq(later_filter_since(&done), 1764000000.5);
    done.record.finished = "{\"at\":\"soon\"}";
    done.record.finished_len = strlen(done.record.finished);
    ck_assert(later_filter_since(&done) < 0);
}

/* If a document is not JSON, or was not read, only what is known can match. */
TEST(test_no_document)
{
    struct later_filter_job job = job_in("dead", NOW);

    job.document = "{\"type\":\"mail.send\",\\u00";
    job.document_len = strlen(job.document);
    job.record = (struct later_record){ .error = "" };
    ck_assert(!meets("type", "*", &job) && !meets("where", "type=mail.send", &job));
    ck_assert(meets("text", "mail", &job) && !meets("text", "http", &job));
    ck_assert(!meets("error", "", &job) && !meets("kind", "bad", &job) &&
              !meets("host", "h", &job));
    ck_assert(meets("attempts", "0", &job));
    job.document = NULL;
    job.document_len = 0;
    ck_assert(!meets("type", "*", &job) && !meets("text", "mail", &job));
    job.document = " [\"type\"]";
    job.document_len = strlen(job.document);
    ck_assert(!meets("where", "0=type", &job));
}

static const struct {
    const char *name, *value, *why;
} refused[] = {
    { "nothing", "1", "nothing is not a condition" },
    { "state", "idle", "idle is not one of" },
    { "kind", "Retry", "Retry is not one of" },
    { "host", "", "must not be empty" },
    { "older", "7w", "7w is not a duration" },
    { "newer", "-1", "-1 is not a duration" },
    { "error", "(", "--error: (: " },
    { "error", "(a)\\1", "no \\1 to \\9" },
    { "error", "((a{9}){9}){9}", "at most two counts" },
    { "error", "(a{1,32767})", "up to 255 each" },
    { "error", "a{256,}", "up to 255 each" },
    { "error", "((x){1,90}){1,90}", "too costly" },
    { "error", "(x|y){,250}", "too costly" },
    { "attempts", "many", "many is not a number" },
    { "attempts", ">", "> is not a number" },
    { "attempts", "=>2", "=>2 is not a number" },
    { "attempts", "1.5", "1.5 is not a number" },
    { "attempts", ">-1", ">-1 is not a number" },
    { "priority", "high", "high is not a whole number" },
    { "priority", "--3", "--3 is not a whole number" },
    { "where", "tenant", "must be PATH=VALUE" },
    { "where", "=5", " is not a path" },
    { "where", "a..b=5", "a..b is not a path" },
    { "where", ".a=5", ".a is not a path" },
    { "where", "a.=5", "a. is not a path" },
    { "where", "a b=5", "a b is not a path" },
    { "where", "a\"=5", "a\" is not a path" },
    { "text", "", "must not be empty" },
};

TEST_EACH(test_refused, COUNT(refused))
{
    struct later_filter *filter = later_filter_new();
    struct later_error err = { .text = "" };

    ck_assert_int_eq(later_filter_add(filter, refused[_i].name, refused[_i].value, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s %s: %s", refused[_i].name,
                  refused[_i].value, err.text);
    later_filter_free(filter);
}

/* Of two letters in any order, with these expressions glibc makes an automaton of any size. */
TEST_EACH(test_too_slow, 3)
{
    static const char *const slow[] = { ".*a.{60}z", "(a|b)*a(a|b){40}z", ".*a.{180}z" };
    char text[1100] = "{\"text\":\"";
    struct later_filter *filter = made("error", slow[_i]);
    struct later_filter_job job = job_in("dead", NOW);
    size_t from = strlen(text);
    struct later_error err;
    uint32_t random = 1;

    for (size_t i = 0; i < 1000; i++) {
        random = random * 1664525 + 1013904223;
        text[from + i] = (char)('a' + (random >> 31));
    }
    strcpy(text + from + 1000, "\"}");
    job.record.error = text;
    job.record.error_len = strlen(text);
    ck_assert_int_eq(later_filter_check(filter, &err), 0);
    ck_assert(!later_filter_meets(filter, &job));
    ck_assert_int_eq(later_filter_check(filter, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "takes too long"));
    ck_assert(!later_filter_meets(filter, &job));
    later_filter_free(filter);
}

TEST(test_too_many)
{
    struct later_filter *filter = made("type", "mail");
    struct later_error err;
    char text[LATER_FILTER_VALUE_MAX + 2] = "";

    ck_assert_int_eq(later_filter_add(filter, "state", "dead", &err), 0);
    ck_assert_int_eq(later_filter_add(filter, "state", "dead", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "given twice"));
    for (int i = 0; i < LATER_FILTER_WHERE_MAX; i++)
        ck_assert_int_eq(later_filter_add(filter, "where", "a=1", &err), 0);
    ck_assert_int_eq(later_filter_add(filter, "where", "a=1", &err), -1);
    memset(text, 'x', sizeof text - 1);
    ck_assert_int_eq(later_filter_add(filter, "text", text, &err), -1);
    text[LATER_FILTER_VALUE_MAX] = '\0';
    ck_assert_int_eq(later_filter_add(filter, "text", text, &err), 0);
    later_filter_free(filter);
}

TEST(test_names)
{
    static const char *const values[] = { "ready", "a", "1", "1",   "a", "bad",
                                          "h",     "1", "1", "a=1", "a", "type:a" };
    struct later_filter *filter = later_filter_new();
    struct later_error err;
    size_t count = 0;

    for (; later_filter_names[count]; count++)
        ck_assert_int_eq(later_filter_add(filter, later_filter_names[count], values[count], &err),
                         0);
    ck_assert_uint_eq(count, sizeof values / sizeof *values);
    later_filter_free(filter);
    later_filter_free(NULL);
}
