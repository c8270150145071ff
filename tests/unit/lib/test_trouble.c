/* test_trouble.c: what is trouble, from when on, and in which words; later.1 and the alerts have
 * the same rules. */
#include "trouble/trouble.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct later_trouble rows[8];

/* A queue in which all is well. */
static const struct later_trouble_queue well = { .now = 1e9,
                                                 .name = "mail",
                                                 .ready = 5,
                                                 .delayed = 3,
                                                 .dead = 2,
                                                 .oldest = 10,
                                                 .alive = 1,
                                                 .served = 1,
                                                 .paused_by = "",
                                                 .rate = 2,
                                                 .elsewhere_type = "t",
                                                 .missed_name = "",
                                                 .blocked_name = "" };

/* Returns the names of the troubles of a queue, each with a space before it. */
static const char *of_queue(const struct later_trouble_queue *queue)
{
    struct later_troubles troubles = { .rows = rows, .room = 8 };
    static char names[200];

    later_trouble_queue(&troubles, queue);
    names[0] = '\0';
    for (size_t i = 0; i < troubles.count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                 later_rules[rows[i].rule].name);
    return names;
}

static char *read_tree(const char *name)
{
    const char *tree = getenv("top_srcdir");
    static char text[1 << 20];
    char path[400];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", tree ? tree : ".", name);
    file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

CASE("table", NULL, NULL);

TEST(the_manual_lists_them)
{
    const char *text = read_tree("doc/later.1");
    char item[200];

    for (int i = 0; i < LATER_RULES; i++) {
        snprintf(item, sizeof item, ".It Cm %s\n%s\n", later_rules[i].name, later_rules[i].words);
        ck_assert_msg(strstr(text, item) != NULL, "not in later.1: %s", item);
    }
}

/* Each rule has an alert, with its severity. Those of which no other metric tells go by
 * laterd_trouble. */
TEST(each_has_an_alert)
{
    const char *text = read_tree("etc/prometheus/laterd.rules.yml"), *at, *end, *found;
    char line[200];

    for (int i = 0; i < LATER_RULES; i++) {
        snprintf(line, sizeof line, "- alert: %s\n", later_rules[i].alert);
        at = strstr(text, line);
        ck_assert_msg(at != NULL, "no alert %s", later_rules[i].alert);
        end = strstr(at + 1, "- alert:");
        snprintf(line, sizeof line, "severity: %s}", later_rules[i].severity);
        found = strstr(at, line);
        ck_assert_msg(found && (!end || found < end), "%s: not %s", later_rules[i].alert,
                      later_rules[i].severity);
        found = strstr(at, "laterd_trouble{rule=");
        snprintf(line, sizeof line, "laterd_trouble{rule=\"%s\"} > 0\n", later_rules[i].name);
        if (found && (!end || found < end))
            ck_assert_msg(strncmp(found, line, strlen(line)) == 0, "%s: not %s",
                          later_rules[i].alert, line);
    }
}

CASE("rules", NULL, NULL);

TEST(a_queue_is_well_up_to_the_bounds)
{
    struct later_trouble_queue queue = well;

    ck_assert_str_eq(of_queue(&queue), "");
    queue.oldest = LATER_TROUBLE_BEHIND - 1;
    ck_assert_str_eq(of_queue(&queue), "");
    queue.oldest = LATER_TROUBLE_BEHIND;
    ck_assert_str_eq(of_queue(&queue), " behind");
    ck_assert_str_eq(rows[0].text, "mail is 5.0 min behind, 5 ready");
    ck_assert_str_eq(rows[0].why, "2.0 a second run: empty in 2.5 s if nothing is added");
    queue.paused = true;
    queue.paused_since = queue.now - LATER_TROUBLE_PAUSED + 1;
    ck_assert_str_eq(of_queue(&queue), "");
    queue.paused_since -= 1;
    ck_assert_str_eq(of_queue(&queue), " paused_long");
    queue.ready = 0;
    ck_assert_str_eq(of_queue(&queue), "");
}

TEST(who_serves_it)
{
    struct later_trouble_queue queue = well;

    queue.served = 0;
    queue.oldest = LATER_TROUBLE_UNSERVED;
    ck_assert_str_eq(of_queue(&queue), " queue_unserved");
    ck_assert_str_eq(rows[0].why, "no laterd that is alive has it in `queues`: is it mistyped, or "
                                  "not in laterd.conf?");
    queue.oldest = 1000; /* not behind as well */
    ck_assert_str_eq(of_queue(&queue), " queue_unserved");
    queue.ready = 0;
    queue.oldest = -1;
    queue.news = 2;
    queue.news_for = "home";
    queue.news_since = queue.now - LATER_TROUBLE_UNSERVED + 1;
    ck_assert_str_eq(of_queue(&queue), "");
    queue.news_since -= 1;
    ck_assert_str_eq(of_queue(&queue), " queue_unserved");
    queue.served = 1; /* the other one is not */
    ck_assert_str_eq(of_queue(&queue), " queue_unserved");
    queue.news = 0;
    queue.served = 0;
    queue.ready = 1;
    queue.oldest = 1000;
    queue.alive = 0; /* then nobody serves anything */
    ck_assert_str_eq(of_queue(&queue), "");
    queue.served = queue.alive = -1; /* not known */
    ck_assert_str_eq(of_queue(&queue), " behind");
}

TEST(all_of_a_queue_at_once)
{
    struct later_trouble_queue queue = well;

    queue.died = queue.unknown = queue.missed = queue.blocked = queue.overdue = 1;
    queue.elsewhere = 1;
    ck_assert_str_eq(of_queue(&queue), " type_unknown type_elsewhere dead_growing over_time "
                                       "schedule_missed flow_blocked");
    ck_assert_ptr_nonnull(strstr(rows[0].why, "is it mistyped, or was laterd not reloaded?"));
}

/* The words agree with the number. */
TEST(how_many_are_dead)
{
    struct later_trouble_queue queue = well;

    queue.died = 1;
    ck_assert_str_eq(of_queue(&queue), " dead_growing");
    ck_assert_str_eq(rows[0].text, "1 job died in mail");
    ck_assert_str_eq(rows[0].why, "within 10 min; 2 are dead there");
    queue.dead = 1;
    ck_assert_str_eq(of_queue(&queue), " dead_growing");
    ck_assert_str_eq(rows[0].why, "within 10 min; 1 is dead there");
}

/* Is a type of which so many of so many fail now trouble, if usually so many of so many do? */
static bool fails(uint64_t failed, uint64_t attempts, uint64_t before, uint64_t of)
{
    struct later_troubles troubles = { .rows = rows, .room = 8 };

    later_trouble_type(&troubles, &(struct later_trouble_type){ .queue = "mail",
                                                                .name = "t",
                                                                .attempts = attempts,
                                                                .failed = failed,
                                                                .usual_attempts = of,
                                                                .usual_failed = before });
    return troubles.count > 0;
}

TEST(failing_means_above_the_usual)
{
    ck_assert(fails(20, 20, 0, 0));
    ck_assert(!fails(19, 19, 0, 0));
    ck_assert(!fails(5, 100, 0, 100));
    ck_assert(fails(6, 100, 0, 100));
    ck_assert(!fails(6, 100, 3, 100));
    ck_assert(fails(7, 100, 3, 100));
    ck_assert(!fails(90, 100, 45, 100));
}

TEST(hosts)
{
    struct later_troubles troubles = { .rows = rows, .room = 8 };
    struct later_trouble_host host = { .now = 1e9,
                                       .seen = 1e9 - LATER_TROUBLE_GONE,
                                       .name = "web1",
                                       .running = 6,
                                       .fault = "",
                                       .over = "",
                                       .over_type = "t",
                                       .over_queue = "mail" };

    later_trouble_host(&troubles, &host);
    ck_assert_uint_eq(troubles.count, 0);
    host.seen -= 150;
    later_trouble_host(&troubles, &host);
    ck_assert_uint_eq(troubles.count, 1);
    ck_assert_str_eq(rows[0].text, "web1 vanished 3.0 min ago, with 6 running jobs");
    host.back = true;
    later_trouble_host(&troubles, &host);
    host.back = false;
    host.seen = host.now - LATER_TROUBLE_LOST - 1;
    host.fault = "2 of 2 workers do not answer";
    later_trouble_host(&troubles, &host);
    ck_assert_uint_eq(troubles.count, 1);
    host.seen = host.now;
    later_trouble_host(&troubles, &host);
    ck_assert_uint_eq(troubles.count, 2);
    ck_assert_str_eq(rows[1].text, "the laterd of web1 has a fault");
    ck_assert_str_eq(rows[1].why, "2 of 2 workers do not answer");
    ck_assert_str_eq(rows[1].host, "web1");
}

TEST(over_time)
{
    struct later_troubles troubles = { .rows = rows, .room = 8 };
    struct later_trouble_host host = { .now = 1e9,
                                       .seen = 1e9,
                                       .name = "web1",
                                       .fault = "",
                                       .over = "j",
                                       .over_type = "t",
                                       .over_queue = "mail",
                                       .over_since = 1e9 - 100 };

    later_trouble_host(&troubles, &host); /* nothing is known of its type */
    host.usual = 20;
    later_trouble_host(&troubles, &host); /* five times as long, not longer */
    ck_assert_uint_eq(troubles.count, 0);
    host.usual = 19;
    later_trouble_host(&troubles, &host);
    ck_assert_uint_eq(troubles.count, 1);
    ck_assert_str_eq(rows[0].text, "j runs for 100 s on web1");
    ck_assert_str_eq(rows[0].why, "99 of 100 of t end within 19 s");
    host.usual = 0.1;
    host.over_since = host.now - 59; /* a minute is never long */
    later_trouble_host(&troubles, &host);
    ck_assert_uint_eq(troubles.count, 1);
}

TEST(redis)
{
    struct later_troubles troubles = { .rows = rows, .room = 8 };

    later_trouble_redis(&troubles, &(struct later_trouble_redis){ .used = 1e9 });
    later_trouble_redis(&troubles, &(struct later_trouble_redis){ .used = 89, .most = 100 });
    ck_assert_uint_eq(troubles.count, 0);
    later_trouble_redis(&troubles, &(struct later_trouble_redis){ .used = 90, .most = 100 });
    later_trouble_redis(&troubles, &(struct later_trouble_redis){ .disk = "no snapshot" });
    ck_assert_uint_eq(troubles.count, 2);
    ck_assert_str_eq(rows[0].text, "Redis uses 90 % of its memory");
    ck_assert_str_eq(rows[1].why, "no snapshot");
}

TEST(types_that_nobody_has)
{
    struct later_trouble_queue queue = well;
    char longest[129];

    memset(longest, 't', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    queue.unknown = 3;
    queue.unknown_types[queue.unknown_type_count++] = "a";
    ck_assert_str_eq(of_queue(&queue), " type_unknown");
    ck_assert_str_eq(rows[0].text, "nobody has the type a of mail");
    queue.unknown_types[queue.unknown_type_count++] = "b";
    of_queue(&queue);
    ck_assert_str_eq(rows[0].text, "nobody has the types a, b of mail");
    ck_assert_str_eq(rows[0].type, "a");
    queue.unknown_types[queue.unknown_type_count++] = longest;
    of_queue(&queue);
    ck_assert_str_eq(rows[0].text, "nobody has the types a, b, … of mail");
    while (queue.unknown_type_count > 0)
        queue.unknown_types[--queue.unknown_type_count] = longest;
    while (queue.unknown_type_count < LATER_TROUBLE_TYPES)
        queue.unknown_types[queue.unknown_type_count++] = longest;
    of_queue(&queue);
    ck_assert_ptr_nonnull(strstr(rows[0].text, ", … of mail"));
}

TEST(the_worst_first_and_the_rest_counted)
{
    struct later_troubles troubles = { .rows = rows, .room = 2 };
    struct later_trouble_queue queue = well;

    queue.died = queue.unknown = queue.missed = 1;
    later_trouble_queue(&troubles, &queue);
    ck_assert_uint_eq(troubles.count, 2);
    ck_assert_uint_eq(troubles.more, 1);
    later_trouble_alive(&troubles, &(struct later_trouble_alive){ .last = "" });
    ck_assert_uint_eq(troubles.more, 2);
    troubles.count = 1;
    later_trouble_alive(&troubles, &(struct later_trouble_alive){ .last = "", .waiting = 1 });
    later_troubles_sort(&troubles);
    ck_assert_str_eq(rows[0].text, "no laterd is alive, 1 job waits");
    ck_assert_int_eq(rows[1].rule, LATER_RULE_TYPE_UNKNOWN);
}
