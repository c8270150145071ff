/* slot.c: hash slots. */
#include "redis/slot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

uint16_t later_slot_crc16(const char *bytes, size_t len)
{
    unsigned crc = 0;

    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xFFFF;
    }
    return (uint16_t)crc;
}

int later_slot_of_key(const char *key, size_t len)
{
    const char *open = memchr(key, '{', len);
    const char *shut = open ? memchr(open, '}', len - (size_t)(open - key)) : NULL;

    if (shut && shut > open + 1) { /* "{}" is not a tag */
        key = open + 1;
        len = (size_t)(shut - key);
    }
    return later_slot_crc16(key, len) % LATER_SLOTS;
}

/* --- a command in wire format: "*N", then N times "$len", bytes, each line ended by CR LF */

struct reader {
    const char *at, *end;
};

struct piece {
    const char *bytes;
    size_t len;
};

static bool read_count(struct reader *reader, char kind, size_t *count)
{
    if (reader->at == reader->end || *reader->at++ != kind)
        return false;
    for (*count = 0; reader->at < reader->end && *reader->at != '\r'; reader->at++)
        *count = *count * 10 + (size_t)(*reader->at - '0');
    reader->at += 2;
    return reader->at <= reader->end;
}

static bool read_piece(struct reader *reader, struct piece *piece)
{
    if (!read_count(reader, '$', &piece->len) || (size_t)(reader->end - reader->at) < piece->len)
        return false;
    piece->bytes = reader->at;
    reader->at += piece->len + 2;
    return true;
}

static bool is(const struct piece *piece, const char *word)
{
    return strlen(word) == piece->len && strncasecmp(piece->bytes, word, piece->len) == 0;
}

static bool has_no_key(const struct piece *name)
{
    static const char *const names[] = { "ACL",    "ASKING", "AUTH", "CLIENT",    "CLUSTER",
                                         "CONFIG", "INFO",   "PING", "PUBLISH",   "ROLE",
                                         "SCRIPT", "SELECT", "TIME", "SUBSCRIBE", NULL };

    for (const char *const *word = names; *word; word++) {
        if (is(name, *word))
            return true;
    }
    return false;
}

int later_slot_of_command(const struct later_command *cmd)
{
    struct reader reader = { cmd->data, cmd->data + cmd->len };
    struct piece name, key, number;
    size_t count;

    if (!read_count(&reader, '*', &count) || !read_piece(&reader, &name) || has_no_key(&name) ||
        !read_piece(&reader, &key))
        return LATER_NO_SLOT;
    if (!is(&name, "EVALSHA") && !is(&name, "EVAL"))
        return later_slot_of_key(key.bytes, key.len);
    if (!read_piece(&reader, &number) || is(&number, "0") || !read_piece(&reader, &key))
        return LATER_NO_SLOT;
    return later_slot_of_key(key.bytes, key.len);
}
