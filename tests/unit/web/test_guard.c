/* test_web_guard.c: which requests are allowed. */
#include "http/guard.h"
#include "tests/unit/unit.h"

static const struct guard ours = { .hosts = { "later.example" }, .host_count = 1 };

static int refusal(const struct guard *guard, struct guard_request request)
{
    const char *why = NULL;
    int status = guard_refuses(guard, &request, &why);

    ck_assert(status == 0 || (why && *why));
    return status;
}

TEST(names)
{
    static const char *const good[] = { "localhost",     "LocalHost:80",
                                        "127.0.0.1",     "10.1.2.3:7420",
                                        "[::1]",         "[fe80::1]:1",
                                        "later.example", "LATER.example:443" };
    static const char *const bad[] = { "",
                                       ":80",
                                       "evil.test",
                                       "localhost.",
                                       "[::1",
                                       "[::1]x",
                                       "127.0.0.1.nip",
                                       "0x7f.1",
                                       "127.1",
                                       "[]",
                                       "later.example.evil.test",
                                       "xlater.example",
                                       "localhost:80x",
                                       "localhost:80:80",
                                       "[::1]:x" };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(guard_is_ours(&ours, good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!guard_is_ours(&ours, bad[i]), "%s", bad[i]);
    ck_assert(!guard_is_ours(&ours, NULL));
}

TEST(posts)
{
    struct guard_request good = { .host = "localhost:7420",
                                  .origin = "http://localhost:7420",
                                  .type = "application/json",
                                  .post = true,
                                  .peer = ROLE_ADMIN,
                                  .needs = ROLE_OPERATOR };
    struct guard_request other = good;

    ck_assert_int_eq(refusal(&ours, good), 0);
    other.origin = "http://localhost:7421";
    ck_assert_int_eq(refusal(&ours, other), 403);
    other.origin = "http://localhost:7420.example.com"; /* which only begins like ours */
    ck_assert_int_eq(refusal(&ours, other), 403);
    other.host = "localhost"; /* the port is the default one */
    other.origin = "http://localhost.example.com";
    ck_assert_int_eq(refusal(&ours, other), 403);
    other.host = good.host;
    other.site = "same-origin"; /* the browser's own word goes before */
    ck_assert_int_eq(refusal(&ours, other), 0);
    other = good;
    other.site = "none";
    ck_assert_int_eq(refusal(&ours, other), 403);
    other = good;
    other.type = "application/json-patch+json";
    ck_assert_int_eq(refusal(&ours, other), 415);
    other.type = "Application/JSON; charset=utf-8";
    ck_assert_int_eq(refusal(&ours, other), 0);
    other.peer = ROLE_READER;
    ck_assert_int_eq(refusal(&ours, other), 403);
    other.post = false;
    ck_assert_int_eq(refusal(&ours, other), 0);
    other.site = "none";
    ck_assert_int_eq(refusal(&ours, other), 0);
    other.site = "same-site";
    ck_assert_int_eq(refusal(&ours, other), 403);
    ck_assert_int_eq(refusal(&(struct guard){ .read_only = true }, good), 403);
}

TEST(tokens)
{
    static const char *const wrong[] = { "Bearer ", "Bearer 0123456789abcde",
                                         "Bearer 0123456789abcdeg", "Bearer 0123456789abcdef0",
                                         "Basic 0123456789abcdef" };
    const struct guard guard = { .tokens = { [ROLE_ADMIN] = "0123456789abcdef" } };
    struct guard_request request = { .host = "127.0.0.1" };

    ck_assert_int_eq(refusal(&guard, request), 401);
    request.open = true;
    ck_assert_int_eq(refusal(&guard, request), 0);
    request.open = false;
    request.authorization = "bearer 0123456789abcdef";
    ck_assert_int_eq(refusal(&guard, request), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        request.authorization = wrong[i];
        ck_assert_msg(refusal(&guard, request) == 401, "%s", wrong[i]);
    }
}

TEST(roles)
{
    struct guard guard = { .tokens = { [ROLE_READER] = "reader", [ROLE_ADMIN] = "admin" } };
    struct guard_request request = { .peer = ROLE_ADMIN };

    ck_assert_int_eq(guard_role(&guard, &request), ROLE_NOBODY); /* tokens count, nothing else */
    request.authorization = "Bearer reader";
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_READER);
    request.authorization = "Bearer admin";
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_ADMIN);
    request.role = "reader"; /* a header that the rules do not name */
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_ADMIN);
    guard.role_header = "X-Role";
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_READER);
    request.role = NULL;
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_READER);
    request.role = "operator";
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_OPERATOR);
    request.role = "admin";
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_ADMIN);
    request.authorization = "Bearer reader"; /* the header gives nothing */
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_READER);
    request.authorization = "Bearer none";
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_NOBODY);
    guard = (struct guard){ .read_only = true };
    ck_assert_int_eq(guard_role(&guard, &request), ROLE_READER);
}
