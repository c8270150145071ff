/*
 * fuzz_reply.c: any bytes as what Redis answers: to the decoders, and through a whole connection.
 *
 * The first byte says which of them, by its highest bit, and how long the pieces are in which the
 * rest comes. Each command must be answered exactly once, whatever comes back; each decoder must
 * give something that can be read.
 */
#include "fuzz.h"

#include "queue/inspect.h"
#include "redis/nodes.h"
#include "queue/queue.h"
#include "redis/redis.h"
#include "redis/reply_make.h"
#include "queue/stock.h"

#include <hiredis/hiredis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define COMMANDS  6
#define ARRAY_MAX 100000 /* elements; hiredis gets their room before they come */

/* ---- decoders */

static volatile size_t touched; /* so that reading is not left out */

static void read_bytes(const char *bytes, size_t len)
{
    must(bytes != NULL, "bytes are never NULL");
    for (size_t i = 0; i < len; i++)
        touched += (unsigned char)bytes[i];
}

static void read_text(const char *text, size_t len)
{
    read_bytes(text, len);
    must(text[len] == '\0', "a text has its NUL");
}

static void read_string(const char *text)
{
    must(text != NULL, "a string is never NULL");
    touched += strlen(text);
}

static void decode_queue(const struct later_reply *reply, size_t most)
{
    size_t count = later_queue_reserved_count(reply), cursor = 0;
    struct later_migrated migrated;
    struct later_reserved job;
    const char *state;
    uint64_t number = 0;

    must(count * 3 <= later_reply_count(reply), "a job has three elements");
    for (size_t i = 0; i < count + 2 && i < most; i++) {
        later_queue_reserved(reply, i, &job);
        read_text(job.id, job.id_len);
        read_text(job.document, job.document_len);
    }
    must(!isnan(later_queue_reserved_now(reply)), "a time is a number");
    must(count == 1 || later_queue_reserved_left(reply) == 0, "only of one job others are left");
    must(later_queue_reserved_ahead(reply) >> LATER_AHEAD_MAX == 0, "so many queues come first");
    for (size_t i = 0; i < most; i++) {
        (void)later_queue_lost(reply, i, &cursor);
        must((unsigned)later_queue_pushed(reply, i, &state) <= LATER_IS_STRANGE, "pushed");
        read_string(state);
    }
    must(cursor <= later_reply_count(reply), "the cursor stays within");
    later_queue_migrated(reply, &migrated);
    must(isfinite(migrated.next_due) && isfinite(migrated.next_lapse) && isfinite(migrated.now),
         "times are finite");
    (void)later_stock_taken(reply, &number);
    must(isfinite(later_limit_wait(reply)), "a wait is finite");
}

static void decode_look(const struct later_reply *reply, size_t most)
{
    struct later_sizes sizes;
    struct later_seen seen;
    const struct later_reply *page;
    char cursor[32];

    later_inspect_sized(reply, &sizes);
    for (size_t i = 0; i < most; i++) {
        later_inspect_peeked(reply, i, &seen);
        read_string(seen.id);
        read_bytes(seen.record.error, seen.record.error_len); /* other lines may follow */
        read_text(seen.document, seen.document_len);
    }
    later_inspect_shown(reply, &seen);
    read_string(seen.state);
    page = later_inspect_scanned(reply, cursor);
    read_string(cursor);
    for (size_t i = 0; i < later_reply_count(page) && i < most; i += 2)
        read_string(later_reply_text(later_reply_at(page, i), NULL));
    must(isfinite(later_inspect_timed(reply)), "a time is finite");
}

/* As CLUSTER SLOTS' answer, and a redirection. */
static void decode_nodes(const struct later_reply *reply)
{
    static struct later_nodes nodes;
    int slot = 0, node;

    nodes.count = 0;
    memset(nodes.of, 0, sizeof nodes.of);
    must(later_nodes_enter(&nodes, "seed", "1") == 0, "a seed is entered");
    (void)later_nodes_take(&nodes, reply, 0);
    must(nodes.count >= 1 && nodes.count <= LATER_NODES_MAX, "nodes are bounded");
    for (int i = 0; i < LATER_SLOTS; i += 61)
        must(later_nodes_of(&nodes, i) < nodes.count, "a slot's node is one of them");
    node = later_nodes_redirected(&nodes, later_reply_text(reply, NULL), 0, &slot);
    must(node < nodes.count && (node == LATER_NO_NODE || (slot >= 0 && slot < LATER_SLOTS)),
         "a redirection names a node and a slot");
}

static void decode(const struct later_reply *reply, int depth)
{
    size_t count = later_reply_count(reply), most = count < 40 ? count + 2 : 40, len;
    const char *text = later_reply_text(reply, &len);

    read_text(text, len);
    (void)later_reply_remedy(text);
    (void)later_reply_int(reply);
    must(isfinite(later_reply_seconds(reply, 1)), "seconds are finite");
    must(later_reply_at(reply, count) == NULL, "nothing beyond the end");
    decode_queue(reply, most);
    decode_look(reply, most);
    if (depth == 0)
        decode_nodes(reply);
    for (size_t i = 0; i < count && i < most && depth < 9; i++)
        decode(later_reply_at(reply, i), depth + 1);
}

/* The decoders alone, which is quicker. */
static void parse(const uint8_t *data, size_t size, size_t piece)
{
    redisReader *reader = later_reply_reader();
    void *reply = NULL;

    while (size > 0) {
        size_t len = piece < size ? piece : size;

        must(redisReaderFeed(reader, (const char *)data, len) == REDIS_OK, "it is taken");
        data += len;
        size -= len;
        while (redisReaderGetReply(reader, &reply) == REDIS_OK && reply) {
            decode(reply, 0);
            later_reply_free(reply);
        }
        if (reader->err)
            break;
    }
    redisReaderFree(reader);
}

/* ---- a connection */

static struct {
    int answered[COMMANDS];
    int messages, downs;
} told;

static void on_answer(void *arg, struct later_answer *answer)
{
    int *times = arg;

    ++*times;
    read_string(answer->text);
    must((answer->outcome == LATER_ANSWERED) == !answer->text[0] ||
             answer->outcome == LATER_REFUSED,
         "only an answer has no reason");
    if (answer->outcome == LATER_ANSWERED || answer->outcome == LATER_REFUSED)
        decode(answer->reply, 0);
    else
        must(answer->reply == NULL, "no answer, no reply");
}

static void on_message(void *arg, const char *channel, const char *text)
{
    (void)arg;
    read_string(channel);
    read_string(text);
    told.messages++;
}

static void on_down(void *arg, const char *why)
{
    (void)arg;
    read_string(why);
    told.downs++;
}

static struct sockaddr_un ours = { .sun_family = AF_UNIX };

static void remove_socket(void)
{
    unlink(ours.sun_path);
}

/* One listening socket for all inputs. */
static int listener(void)
{
    static int fd = -1;

    if (fd >= 0)
        return fd;
    snprintf(ours.sun_path, sizeof ours.sun_path, "/tmp/later-fuzz-%ld", (long)getpid());
    unlink(ours.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0 && bind(fd, (struct sockaddr *)&ours, sizeof ours) == 0 && listen(fd, 8) == 0,
         "there is a socket");
    atexit(remove_socket);
    return fd;
}

static void send_commands(struct later_redis *redis)
{
    for (int i = 0; i < COMMANDS; i++) {
        struct later_command cmd = { 0 };

        later_command_begin(&cmd, 1);
        later_command_text(&cmd, "X");
        cmd.script = i % 2 ? &later_script_texts[LATER_SCRIPT_ACK] : NULL;
        if (later_redis_send(redis, &cmd, 60, on_answer, &told.answered[i]) < 0)
            told.answered[i]++; /* refused: as good as answered */
    }
    later_redis_flush(redis);
}

/* What the client has written is read away, so that it can go on. */
static void drain(int fd)
{
    char bytes[4096];

    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

static void converse(const uint8_t *data, size_t size, size_t piece)
{
    struct later_redis_options options = { .message = on_message, .down = on_down };
    struct later_redis *redis;
    struct later_error err;
    int fd, server = listener();

    memset(&told, 0, sizeof told);
    strcpy(options.address.path, ours.sun_path);
    redis = later_redis_new(&options);
    must(redis && later_redis_connect(redis, &err) == 0, "it connects");
    fd = accept(server, NULL, NULL);
    must(fd >= 0, "it is accepted");
    later_redis_handle(redis);
    must(send(fd, ":7\r\n+PONG\r\n", 11, MSG_NOSIGNAL) == 11, "the handshake");
    later_redis_handle(redis);
    must(later_redis_up(redis), "it is up");
    send_commands(redis);
    while (size > 0 && !later_redis_down(redis)) {
        size_t len = piece < size ? piece : size;

        if (send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
            break;
        data += len;
        size -= len;
        later_redis_handle(redis);
        drain(fd);
    }
    close(fd);
    later_redis_handle(redis);
    must(later_redis_down(redis) && told.downs == 1, "its end is seen, once");
    for (int i = 0; i < COMMANDS; i++)
        must(told.answered[i] == 1, "each command has one answer");
    later_redis_free(redis);
}

/* An array of that size would be allocated before its elements have come. */
static bool too_large(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned long count = 0;

        if (data[i] != '*')
            continue;
        for (size_t at = i + 1; at < size && data[at] >= '+' && data[at] <= '9'; at++) {
            if (data[at] >= '0')
                count = count * 10 + data[at] - '0';
            if (count > ARRAY_MAX)
                return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t piece;

    if (size == 0 || too_large(data, size))
        return 0;
    piece = data[0] & 0x7f ? data[0] & 0x7f : 4096;
    if (data[0] & 0x80)
        converse(data + 1, size - 1, piece);
    else
        parse(data + 1, size - 1, piece);
    return 0;
}
