/*
 * fake_redis.h: a Redis that behaves as badly as a test wants it to.
 *
 * It listens on a unix socket in a new folder of its own and plays a script, a function in a thread
 * of the same process. The script accepts connections one after the other, reads whole commands,
 * answers with any bytes, late, by halves or never, and cuts. It can also stand before a real
 * server and lose answers on the way.
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
 * Each call of a script returns false when the client has gone or the test stops the server: the
 * script returns then. It asserts nothing, since it runs in another thread than the test.
 */
#ifndef TESTS_SUPPORT_FAKE_REDIS_H
#define TESTS_SUPPORT_FAKE_REDIS_H

#include <stdbool.h>
#include <stddef.h>

#define FAKE_WORDS 64 /* of a command that are kept */

struct fake_redis;
typedef void fake_script(struct fake_redis *fake, void *arg);

/* ---- for the test */

/* Listens, then plays the script in a thread. NULL if that is not possible. */
struct fake_redis *fake_start(fake_script *script, void *arg);

/* The same on a port of 127.0.0.1. */
struct fake_redis *fake_start_tcp(fake_script *script, void *arg);

/* Ends the script, wherever it waits, joins its thread, removes its folder. */
void fake_stop(struct fake_redis *fake);

/* "unix:/tmp/…/socket" or "redis://127.0.0.1:PORT"; and the port alone. */
const char *fake_url(const struct fake_redis *fake);
unsigned fake_port(const struct fake_redis *fake);

/* How many connections were accepted, how many whole commands read, and how many of them were
 * called `name`, until now. */
unsigned fake_accepted(struct fake_redis *fake);
unsigned fake_commands(struct fake_redis *fake);
unsigned fake_called(struct fake_redis *fake, const char *name);

/* ---- for the script */

/* Takes the next connection; closes the one before. */
bool fake_accept(struct fake_redis *fake);

/* fake_accept(), and answers the handshake of a laterd connection up to its PING. */
bool fake_shake(struct fake_redis *fake);

/* Reads one whole command. Its words, NUL-terminated, are valid until the next call. */
bool fake_read(struct fake_redis *fake);
size_t fake_count(const struct fake_redis *fake);
const char *fake_word(const struct fake_redis *fake, size_t i); /* "" beyond the end */

/* Reads `len` bytes, whatever they are. */
bool fake_swallow(struct fake_redis *fake, size_t len);

/* Sends these bytes. */
bool fake_say(struct fake_redis *fake, const char *text);
bool fake_say_bytes(struct fake_redis *fake, const char *bytes, size_t len);

/* Closes the connection; with what was not read yet, as a crash would. */
void fake_cut(struct fake_redis *fake);

/* Waits until the client has closed; what it sends until then is swallowed. */
bool fake_wait_closed(struct fake_redis *fake);

/* Waits for so long. */
bool fake_pause(struct fake_redis *fake, double seconds);

/* Sends the command that was read last to a real server on the unix socket `to` and waits for its
 * answer; passes that on, or loses it. One connection to the server for each of the client's. */
bool fake_forward(struct fake_redis *fake, const char *to, bool lose);

/* Passes all bytes both ways between the client and a real server, until `up` of them have gone up
 * or `down` of them have come down; then cuts off the client. Whatever went up is carried out by
 * the server before this returns. SIZE_MAX: never. */
bool fake_relay(struct fake_redis *fake, const char *to, size_t up, size_t down);

#endif
