/*
 * fake_redis.h: a Redis that behaves as badly as a test wants.
 *
 * It listens on a unix socket in a folder of its own and runs a script: a function in a thread of
 * the same process. The script accepts connections one after the other and reads whole commands. It
 * answers with any bytes, late, in part or never, and can cut the connection. It can also stand in
 * front of a real server and lose its answers.
 *
 *     static void deaf(struct fake_redis *fake, void *arg)
 *     {
 *         if (fake_shake(fake) && fake_read(fake))
 *             fake_wait_closed(fake);
 *     }
 *     struct fake_redis *fake = fake_start(deaf, NULL);
 *     … connect to fake_url(fake) …
 *     fake_stop(fake);
 *
 * Each of its calls returns false if the client has gone or the test stops the server; the script
 * then returns. A script asserts nothing, since it does not run in the test's thread.
 */
#ifndef TESTS_SUPPORT_FAKE_REDIS_H
#define TESTS_SUPPORT_FAKE_REDIS_H

#include <stdbool.h>
#include <stddef.h>

#define FAKE_WORDS 64 /* words of a command that are kept */

struct fake_redis;
typedef void fake_script(struct fake_redis *fake, void *arg);

/* ---- for the test */

/* Listens, then runs the script in a thread. Returns NULL if that fails. */
struct fake_redis *fake_start(fake_script *script, void *arg);

/* The same on a port of 127.0.0.1. */
struct fake_redis *fake_start_tcp(fake_script *script, void *arg);

/* Ends the script, even while it waits, joins its thread and removes its folder. */
void fake_stop(struct fake_redis *fake);

/* "unix:/tmp/…/socket" or "redis://127.0.0.1:PORT"; and the port alone. */
const char *fake_url(const struct fake_redis *fake);
unsigned fake_port(const struct fake_redis *fake);

/* Return how many connections were accepted so far, how many whole commands were read, and how many
 * of those were called `name`. */
unsigned fake_accepted(struct fake_redis *fake);
unsigned fake_commands(struct fake_redis *fake);
unsigned fake_called(struct fake_redis *fake, const char *name);

/* ---- for the script */

/* Takes the next connection; closes the one before. */
bool fake_accept(struct fake_redis *fake);

/* Calls fake_accept() and answers the handshake of a laterd connection, up to its PING. */
bool fake_shake(struct fake_redis *fake);

/* Reads one whole command. Its words are NUL-terminated and valid until the next call. */
bool fake_read(struct fake_redis *fake);
size_t fake_count(const struct fake_redis *fake);
const char *fake_word(const struct fake_redis *fake, size_t i); /* "" beyond the end */

/* Reads `len` bytes of any kind. */
bool fake_swallow(struct fake_redis *fake, size_t len);

/* Sends these bytes. */
bool fake_say(struct fake_redis *fake, const char *text);
bool fake_say_bytes(struct fake_redis *fake, const char *bytes, size_t len);

/* Closes the connection as a crash would, with what was not read yet. */
void fake_cut(struct fake_redis *fake);

/* Waits until the client has closed, and swallows what it still sends. */
bool fake_wait_closed(struct fake_redis *fake);

/* Waits this long. */
bool fake_pause(struct fake_redis *fake, double seconds);

/* Sends the last command to a real server on the unix socket `to` and waits for the answer, which
 * it passes on or loses. Each connection of the client gets one connection to the server. */
bool fake_forward(struct fake_redis *fake, const char *to, bool lose);

/* Passes all bytes both ways between the client and a real server, until `up` bytes have gone up or
 * `down` bytes have come down. Then it cuts off the client. The server has carried out all that
 * went up before this returns. SIZE_MAX = no limit. */
bool fake_relay(struct fake_redis *fake, const char *to, size_t up, size_t down);

#endif
