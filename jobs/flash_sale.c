/*
 * flash_sale.c: type "flash_sale.buy", payload {"item": "phone", "buyer": "b123"}: one piece of a
 * limited stock for a buyer.
 *
 * The claim is idempotent: a buyer whose job runs twice has bought once. Sold out is an answer, not
 * a failure: the job is done, and the stock counts whom it refused.
 */
#include <later/job.h>
#include <later/job_json.h>

#include <inttypes.h>
#include <stdbool.h>

/* Does the stock accept this name? A name that it never accepts must be buried here, since a retry
 * cannot help. */
static bool flash_sale_name_valid(const char *name)
{
    size_t len = 0;

    if (!name)
        return false;
    for (; name[len]; len++) {
        if (name[len] < '!' || name[len] > '~' || name[len] == '{' || name[len] == '}')
            return false;
    }
    return len >= 1 && len <= 200;
}

static enum later_result buy(struct later_job *job, const char *item, const char *buyer)
{
    uint64_t number = 0;
    int answer = later_stock_claim(job, item, buyer, &number);

    if (answer == LATER_FAILED) {
        later_job_error(job, "the stock of %s could not be asked", item);
        return LATER_RETRY;
    }
    if (answer == LATER_NO)
        later_job_log(job, LATER_DEBUG, "%s: sold out, nothing for %s", item, buyer);
    else
        later_job_log(job, LATER_DEBUG, "%s number %" PRIu64 " %s %s", item, number,
                      answer == LATER_YES ? "goes to" : "went before to", buyer);
    return LATER_DONE;
}

static enum later_result buy_perform(struct later_job *job)
{
    json_t *payload = later_job_json(job, NULL);
    const char *item = later_json_string(payload, "item", NULL);
    const char *buyer = later_json_string(payload, "buyer", NULL);
    enum later_result result = LATER_BURY;

    if (flash_sale_name_valid(item) && flash_sale_name_valid(buyer))
        result = buy(job, item, buyer);
    else
        later_job_error(job, "payload must be {\"item\": \"…\", \"buyer\": \"…\"}, each 1 to 200 "
                             "printable ASCII characters, no space, no brace");
    json_decref(payload);
    return result;
}

static const struct later_type types[] = { { .name = "flash_sale.buy", .perform = buy_perform },
                                           { 0 } };

LATER_PLUGIN(.name = "flash_sale", .version = "1", .types = types);
