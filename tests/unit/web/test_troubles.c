/* test_web_troubles.c: what readers are told of troubles, by what a `later serve` answers. */
#include "live/troubles.h"
#include "tests/unit/unit.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

static int answers;

static void note_answer(void *arg)
{
    answers++;
    event_base_loopbreak(arg);
}

/* Returns what is written after one more answer, without its age. Static. */
static const char *next(struct event_base *base, struct troubles *troubles)
{
    static char text[400];
    int before = answers;
    char *age, *end;
    FILE *out;

    memset(text, 0, sizeof text);
    while (answers == before) { /* it waits four times as long as the last answer took */
        troubles_look(troubles, 0);
        event_base_loop(base, EVLOOP_ONCE | (troubles_asks(troubles) ? 0 : EVLOOP_NONBLOCK));
    }
    out = fmemopen(text, sizeof text, "w");
    troubles_write(troubles, out);
    fclose(out);
    age = strstr(text, "\"age\":");
    end = strchr(age, ',');
    memmove(age, end + 1, strlen(end));
    return text;
}

#define FAILS(words)  "read -r order; printf '\\036{\"status\":69,\"words\":\"" words "\"}\\n';"
#define FINDS(status) "read -r order; echo '{\"a\":1}'; printf '\\036{\"status\":" status "}\\n';"

/* What is known stays while there is no answer, and then it is said why; what is over is not. */
TEST(away)
{
    char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" },
                     (char[]){ FAILS("lost") FINDS("1") FAILS("lost again") FINDS("0") "read -r"
                                                                                       " order" },
                     NULL };
    struct serve_program program = { .argv = argv };
    struct event_base *base = event_base_new();
    struct troubles *troubles = troubles_new(base, &program, note_answer, base);

    ck_assert_str_eq(next(base, troubles),
                     "{\"known\":false,\"look\":0,\"away\":\"lost\",\"list\":[]}");
    ck_assert_str_eq(next(base, troubles),
                     "{\"known\":true,\"look\":1,\"away\":\"\",\"list\":[{\"a\":1}]}");
    ck_assert_str_eq(next(base, troubles),
                     "{\"known\":true,\"look\":1,\"away\":\"lost again\",\"list\":[{\"a\":1}]}");
    ck_assert_str_eq(next(base, troubles),
                     "{\"known\":true,\"look\":2,\"away\":\"\",\"list\":[{\"a\":1}]}");
    troubles_free(troubles);
    event_base_free(base);
}
