/* test_exchange.c: the status of an HTTP answer, as its bytes come. */
#include "notify/exchange.h"
#include "tests/unit/unit.h"

#include <string.h>

static const struct {
    const char *bytes;
    int status;
} rows[] = {
    { "", 0 },
    { "HTTP/1.1 20", 0 },
    { "HTTP/1.1 204 No Content\r", 0 },
    { "HTTP/1.1 204 No Content\r\n", 204 },
    { "HTTP/1.0 500\n", 500 },
    { "HTTP/1.1 404\r\n\r\nnothing here", 404 },
    { "HTTP/1.1 100 Continue\r\n", 0 },
    { "HTTP/1.1 100 Continue\r\n\r\n", 0 },
    { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n",
      200 },
    { "HTTP/1.1 100 Continue\r\n\r\n220 mail.example\r\n", -1 },
    { "HTTP/2 200\r\n", -1 },
    { "HTTP/1.1  200 OK\r\n", -1 },
    { "HTTP/1.1 -20 OK\r\n", -1 },
    { "HTTP/1.1 20 OK\r\n", -1 },
    { "HTTP/1.1 099 OK\r\n", -1 },
    { "\r\n", -1 },
    { "220 mail.example ESMTP\r\n", -1 },
};

TEST_EACH(statuses, COUNT(rows))
{
    int got = exchange_status(rows[_i].bytes, strlen(rows[_i].bytes));

    ck_assert_msg(got == rows[_i].status, "%s: got %d", rows[_i].bytes, got);
}
