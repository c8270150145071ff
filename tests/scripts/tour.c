/* tour.c: a queue with jobs of every kind, and a call of each script on it. */
#include "tour.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

/* A script and its arguments. */
static const char *const calls[][28] = {
    { "push", "60", "replace", "n1", "",   "5@A", "{}", "n2", "+9", "0", "{}", "a1",
      "",     "3",  "{}",      "l1", "+5", "-7",  "{}", "r1", "",   "0", "{}" },
    { "show", "a1", "l1", "r1", "d1", "none" },
    { "reschedule", "a1", "", "5" },
    { "reschedule", "l1", "+900", "" },
    { "locate", "tttttttttttttttt:r1" },
    { "edit", "a1", "{}", "{\"type\":\"t\"}" },
    { "peek", "ready", "0", "10" },
    { "size" },
    { "touch", "60", "tttttttttttttttt:r1", "uuuuuuuuuuuuuuuu:r1" },
    { "ack", "tttttttttttttttt:r1", "uuuuuuuuuuuuuuuu:r2" },
    { "ack_all", "500" },
    { "step", "ssssssssssssssss", "30", "1", "262144", "", "", "tttttttttttttttt:rd", "none" },
    { "finish", "tttttttttttttttt:rc", "unrun", ERROR, "60" },
    { "finish", "tttttttttttttttt:ra", "done", "[1]", "60", "0", "0", "", "h",
      "\"type\":\"t\",\"queue\":\"q\"" },
    { "finish_all", "1", "60", "tttttttttttttttt:rc", "7", "0", "", "tttttttttttttttt:none", "8",
      "0", "" }, /* with results it has keys that it does not declare */
    { "finish_all", "0", "0", "tttttttttttttttt:r2", "7", "60", "" },
    { "progress", "tttttttttttttttt:r3", "\"done\":1}", "{}", "", "tttttttttttttttt:none", "", "",
      "" },
    { "result", "r9" },
    { "expire", "tttttttttttttttt:r2" },
    { "migrate", "500" },
    { "lapse", "4000000000", ERROR },
    { "release", "tttttttttttttttt:r3", "0", "ran", ERROR, "tttttttttttttttt:r4", "1", "crashed",
      ERROR, "tttttttttttttttt:r5", "2", "ran", "" },
    { "return", "tttttttttttttttt:r6", "0", "suspect", "tttttttttttttttt:r7", "1", "interrupted",
      "tttttttttttttttt:r8", "0", "held" },
    { "bury", "tttttttttttttttt:r9", "ran", ERROR, "tttttttttttttttt:ra", "crashed", ERROR,
      "tttttttttttttttt:rb", "unrun", ERROR },
    { "kick", "d1", "l2", "none" },
    { "cancel", "a2", "l3", "d2", "tttttttttttttttt:rc", "none" },
    { "pause" },
    { "resume" },
    { "override", "type:t", "60000", "ann", "why" },
    { "return", "tttttttttttttttt:rb", "0", "type:t" },
    { "override", "type:t", "", "", "" },
    { "override", "limit:n", "0", "ann", "5 60" },
    { "heed" },
    { "wake" },
    { "reserve", "yyyyyyyyyyyyyyyy", "30", "4", "262144", "0" },
    { "reserve", "zzzzzzzzzzzzzzzz", "30", "50", "262144/beside", "0" },
    { "trim", "3", "1000", "1" },
    { "trim_done", "0", "1" },
    { "act", "cancel", "dead", "", "d3", "" },
    { "act", "move", "delayed", "other", "l1", "" },
    { "purge", "dead", "2" },
    { "stock_set", "9" },
    { "stock_claim", "bob" },
    { "stock_release", "ann" },
    { "stock_show" },
    { "limit_fixed", "5", "60" },
    { "limit_sliding", "5", "60" },
    { "limit_take", "5", "60", "sliding", "q another" },
    { "limit_begun", "5", "60", "1700000000.000000" },
    { "limit_free", "sliding", "1700000000.000000" },
    { "limit_line", "5", "60", "sliding", "4000000000", "0", "q another" },
    { "lock_take", "aaaaaaaaaaaaaaaa", "bob on h", "30", "", "q another" },
    { "lock_touch", "oooooooooooooooo", "40" },
    { "lock_show" },
    { "lock_free", "oooooooooooooooo" },
    { "lock_wake", "wwwwwwwwwwwwwwww" },
    { "permit_take", "new", "2", "30", "q another" },
    { "permit_touch", "40", "held" },
    { "permit_free", "held" },
    { "looker", "web1:1", "3", "1" },
    { "looker", "web2:1", "3", "1" },
    { "permit_line", "2", "4000000000", "0", "q another" },
    { "lock_line", "4000000000", "0", "q another" },
    { "put_off", "soon", "99999999999", "99999999999", "x1", "5", "6" },
    { "hasten", "99999999999", "5", "soon" },
    { "note", "all", "12", "60000", "0", "h:1", "1", "h:2", "2" },
    { "note", "h:3", "3", "60000", "1" },
    { "flow_push", "f", "", "0", "60", "fw", "w", "*", "ended", "", "0", "{}", "fa", "a", "",
      "done", "", "5@A", "{}" },
    { "flow_push", "f", "", "1", "60", "fb", "b", "a,c", "done", "+5", "0", "{}" },
    { "values", "f", "fb", "1048576" },
    { "flow_join", "w", "", "0", "60", "wa", "a", "", "done", "", "there", "wb", "b", "a", "failed",
      "", "there/1" },
    { "flow_join", "w", "", "1", "60", "wc", "c", "*", "done", "+5", "there" },
    { "flow_park", "new", "v", "there", "va", "7", "3@B", "{}", "x1", "8", "0", "{}" },
    { "flow_hear", "there", "5 d q w wa 9", "7 drop q v va 9", "8 put q - m1 0 {}",
      "9 put q x5 m2 4 p=3\n{}" },
    { "flow_seek" },
    { "push_now", "0", "fresh", "{}", "1" },
    { "push_now", "0", "fresh", "{}", "2" },
    { "push_now", "9", "late", "{}", "3" },
    { "reshard", "", "4 1" },
    { "ids", "jobs", "0" },
    { "ids", "unique", "0" },
    { "cron_look", "due", "10" },
    { "cron_look", "0", "10" },
    { "cron_look", "=soon", "1" },
    { "cron_fire", "due", "1700000000", "fdd79f11f090d88b579253092f62a4fac45ccedc", "1700000060",
      "4000000000", "1", "0" },
    { "cron_put", "made", "at=0 0 * * *\n\n{}", "4000000000", "set" },
    { "cron_move", "pause", "soon", "", "none", "" },
    { "cron_move", "resume", "soon", "4000000000" },
    { "cron_move", "seen", "made", "" },
    { "cron_move", "drop", "made", "set", "soon", "other" },
    { "forget" },
};

const char *const tour_scripts[] = {
    "push",          "show",         "peek",        "size",          "touch",       "ack",
    "step",          "ack_all",      "finish",      "progress",      "result",      "expire",
    "migrate",       "lapse",        "release",     "return",        "bury",        "kick",
    "cancel",        "pause",        "resume",      "reserve",       "trim",        "trim_done",
    "purge",         "stock_set",    "stock_claim", "stock_release", "stock_show",  "limit_fixed",
    "limit_sliding", "lock_touch",   "lock_show",   "lock_free",     "lock_take",   "lock_wake",
    "permit_take",   "permit_touch", "permit_free", "permit_line",   "lock_line",   "hasten",
    "locate",        "wake",         "push_now",    "flow_push",     "reshard",     "ids",
    "note",          "cron_look",    "cron_fire",   "cron_put",      "cron_move",   "forget",
    "act",           "limit_take",   "limit_free",  "limit_line",    "limit_begun", "edit",
    "values",        "flow_join",    "flow_park",   "flow_hear",     "flow_seek",   "finish_all",
    "reschedule",    "override",     "heed",        "put_off",       "looker",      NULL
};

static void make_crowd(void)
{
    static const char held[] = "123456789abcd";

    ask("FLUSHALL");
    push("x1");
    reserve('x', 1);
    ask("ZADD %s 1 xxxxxxxxxxxxxxxx", key("reserved"));
    for (const char *c = held; *c; c++)
        push(text("r%c", *c));
    reserve('t', 500);
    for (char c = '1'; c <= '6'; c++) {
        push(text("d%c", c));
        reserve('d', 1);
        run("bury", member('d', text("d%c", c)), "ran", ERROR, NULL);
    }
    for (char c = '1'; c <= '3'; c++) {
        push(text("a%c", c));
        push_when(text("l%c", c), "+100");
        fill_record(text("a%c", c));
        fill_record(text("l%c", c));
        fill_record(text("d%c", c));
    }
    push_when("l4", "+100");
    ask("ZADD %s 5 l4 6 %s", key("delayed"), "{\"plain\":1}");
    ask("ZADD %s 0 %s 1 junk", key("ready"), "{\"plain\":2}");
    for (const char *c = held; *c; c++)
        fill_record(text("r%c", *c));
    note("i", "r7", "9");
    fill_record("x1");
    note("u", "r1", "60");
    note("u", "r2", "60");
    note("u", "a1", "60");
    ask("ZADD %s 1 past 4000000000 n2", key("unique"));
    note("t", "past", "1");
    note("t", "n2", "4000000000");
    run("stock_set", "5", NULL);
    run("stock_claim", "ann", NULL);
    run("lock_take", "oooooooooooooooo", "ann on h", "30", "", "", NULL);
    run("permit_take", "held", "2", "30", "", NULL);
    ask("HSET later:{q}:minute:1 h:1 1 h:2 2 h:3 2");
    ask("HSET %s due %s soon %s soon:state origin=set\n", key("crontab"),
        "at=* * * * *\noverlap=replace\n\n{\"type\":\"t\"}", "at=* * * * *\n\n{}");
    ask("HSET %s due:state id=l1\npaused=\n", key("crontab"));
    ask("ZADD %s 1700000000 due inf soon", key("cron"));
    ask("ZADD %s 4000000000 e1 1 e2", key("done"));
    ask("ZADD %s 1 f", key("flows"));
    ask("ZADD %s 1 old", key("away"));
    ask("HSET %s closed 1 total 1 done 1 j:fa d", key("flow:f"));
    ask("HSET %s e1 \n\n{} e2 \n\n{}", key("kept"));
    ask("ZADD later:running:{n}:waiting 99999999999 first");
    ask("ZADD later:lock:{n}:waiting 99999999999 first");
}

/* copies FROM TO: every key of a database, and returns how many there are. */
static const char copies[] = "redis.call('SELECT', ARGV[1]) local names = redis.call('KEYS', '*') "
                             "for _, name in ipairs(names) do "
                             "redis.call('COPY', name, name, 'DB', ARGV[2]) "
                             "end return #names";

/* It takes some two hundred calls, so it is kept in another database and copied from there. But it
 * has times, so it is made anew when it is some seconds old. */
void tour_crowd(void)
{
    static double made;

    ask("FLUSHDB");
    if (now() - made < 5 && ask("EVAL %s 0 1 0", copies)->integer > 0)
        return;
    make_crowd();
    ask("EVAL %s 0 0 1", copies);
    made = now();
}

void tour_group(void)
{
    const redisReply *ids = ask("HKEYS %s", key("records"));

    for (size_t i = 0; i < ids->elements; i++)
        note("q", ids->element[i]->str, "1 g");
}

bool tour_nth_arguments(const char *script, size_t nth)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i][0], script) == 0 && nth-- == 0) {
            if (strcmp(script, "lapse") == 0)
                hold_by("xxxxxxxxxxxxxxxx");
            for (const char *const *argument = &calls[i][1]; *argument; argument++)
                arg(*argument);
            return true;
        }
    }
    return false;
}

void tour_arguments(const char *script)
{
    ck_assert_msg(tour_nth_arguments(script, 0), "no call of %s", script);
}

/* `results` is a time. */
static const char *stats_but_times(void)
{
    const redisReply *stats = ask("HGETALL %s", key("stats"));
    const char *out = "";

    for (size_t i = 0; i < stats->elements; i += 2) {
        const char *name = stats->element[i]->str;

        out = text("%s%s %s ", out, name,
                   strcmp(name, "results") == 0 ? "" : stats->element[i + 1]->str);
    }
    return out;
}

const char *tour_picture(void)
{
    static const char *const sets[] = { "ready", "delayed", "reserved", "dead" };
    const char *plan = ask("GET %s", key("shards"))->str;
    const redisReply *records;
    char *out;
    size_t len;
    FILE *file = open_memstream(&out, &len);

    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        fprintf(file, "%s: %s\n", sets[i], members(sets[i]));
    fprintf(file, "jobs: %s\n", flat(ask("HGETALL %s", key("jobs"))));
    fprintf(file, "stats: %s\n", stats_but_times());
    fprintf(file, "unique: %s\n", members("unique"));
    records = ask("HKEYS %s", key("records"));
    for (size_t i = 0; i < records->elements; i++) {
        const char *id = records->element[i]->str;

        for (size_t n = 0; n < 5; n++)
            fprintf(file, "%s %s %s\n", id, tags[n], n < 4 ? noted(tags[n], id) : "");
    }
    fprintf(file, "counts: %s\n", plan ? strchr(plan, ' ') : "none");
    fprintf(file, "wake: %lld, paused: %lld\n", size_of("wake"), size_of("paused"));
    fprintf(file, "stock: %s, claims: %s\n", flat(ask("HGETALL later:stock:{i}")),
            flat(ask("HGETALL later:stock:{i}:claims")));
    fprintf(file, "lock: %s, fence: %s, woken: %s\n",
            flat(ask("HMGET later:lock:{n} token owner ttl fence pass")),
            flat(ask("MGET later:lock:{n}:fence")), flat(ask("LRANGE later:lock:{n}:wake 0 -1")));
    fprintf(file, "places: %s, waiting: %s, for the lock: %s\n",
            flat(ask("ZRANGE later:running:{n} 0 -1")),
            flat(ask("ZRANGE later:running:{n}:waiting 0 -1")),
            flat(ask("ZRANGE later:lock:{n}:waiting 0 -1")));
    fprintf(file, "cron: %s, crontab: %s\n", members("cron"),
            flat(ask("HGETALL %s", key("crontab"))));
    fprintf(file, "history: %s\n", flat(ask("HGETALL later:{q}:minute:1")));
    fprintf(file, "limits: %s %s", ask("TYPE later:limit:{k}")->str,
            ask("TYPE later:limit:{s}")->str);
    fclose(file);
    return harness_keep(out);
}
