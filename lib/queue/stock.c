/* stock.c: encodes and decodes the calls of stocks and limits. */
#include "queue/stock.h"

#include "redis/key.h"
#include "redis/script.h"

static void stock_begin(struct later_command *cmd, enum later_script script, const char *prefix,
                        const char *item)
{
    char stock[LATER_KEY_MAX], claims[LATER_KEY_MAX];
    const char *keys[] = { stock, claims };

    later_key_stock(stock, prefix, item, false);
    later_key_stock(claims, prefix, item, true);
    later_script_begin(cmd, script, NULL, keys + (later_script_texts[script].key_count == 1), 0);
}

void later_stock_set(struct later_command *cmd, const char *prefix, const char *item,
                     uint64_t total)
{
    stock_begin(cmd, LATER_SCRIPT_STOCK_SET, prefix, item);
    later_command_int(cmd, (int64_t)total);
}

void later_stock_take(struct later_command *cmd, const char *prefix, const char *item,
                      const char *who)
{
    stock_begin(cmd, LATER_SCRIPT_STOCK_CLAIM, prefix, item);
    later_command_text(cmd, who);
}

void later_stock_give_back(struct later_command *cmd, const char *prefix, const char *item,
                           const char *who)
{
    stock_begin(cmd, LATER_SCRIPT_STOCK_RELEASE, prefix, item);
    later_command_text(cmd, who);
}

void later_stock_look(struct later_command *cmd, const char *prefix, const char *item)
{
    stock_begin(cmd, LATER_SCRIPT_STOCK_SHOW, prefix, item);
}

enum later_stock_taken later_stock_taken(const struct later_reply *reply, uint64_t *number)
{
    int64_t how = later_reply_int(later_reply_at(reply, 0));

    if (how < 0)
        return LATER_STOCK_SOLD_OUT;
    *number = (uint64_t)later_reply_int(later_reply_at(reply, 1));
    return how ? LATER_STOCK_TAKEN : LATER_STOCK_HELD;
}

void later_limit_ask(struct later_command *cmd, const char *prefix, const char *name, uint32_t max,
                     double per, bool sliding)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    later_script_begin(cmd, sliding ? LATER_SCRIPT_LIMIT_SLIDING : LATER_SCRIPT_LIMIT_FIXED, NULL,
                       (const char *const[]){ key }, 0);
    later_command_int(cmd, max);
    later_command_seconds(cmd, per);
}

double later_limit_wait(const struct later_reply *reply)
{
    return later_reply_seconds(reply, 0);
}
