/* test_tls.c: TLS on a socket, against OpenSSL's own server at the other end of a socketpair. */
#include "redis/tls.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 1000 /* of a handshake; a few are enough */

static int fds[2]; /* ours, the server's */
static char folder[] = "/tmp/later-tls-XXXXXX", file[64], why[LATER_TLS_WHY];
static struct later_address_tls how;
static struct later_tls *tls;
static SSL_CTX *context;
static SSL *server;

/* A certificate for "here", which is its own authority; so many seconds from now it ends. */
static X509 *certificate(EVP_PKEY *key, long seconds)
{
    X509 *cert = X509_new();
    X509_NAME *name = X509_get_subject_name(cert);

    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -7200);
    X509_gmtime_adj(X509_getm_notAfter(cert), seconds);
    X509_set_pubkey(cert, key);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"here", -1, -1, 0);
    X509_set_issuer_name(cert, name);
    X509_sign(cert, key, EVP_sha256());
    return cert;
}

static void begin(long seconds, const char *host)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = certificate(key, seconds);
    FILE *out;

    ck_assert_ptr_nonnull(mkdtemp(strcpy(folder, "/tmp/later-tls-XXXXXX")));
    snprintf(file, sizeof file, "%s/ca", folder);
    out = fopen(file, "w");
    PEM_write_X509(out, cert);
    fclose(out);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(context, cert);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(cert);
    EVP_PKEY_free(key);
    server = SSL_new(context);
    SSL_set_fd(server, fds[1]);
    SSL_set_accept_state(server);
    how = (struct later_address_tls){ .on = true };
    strcpy(how.ca, file);
    tls = later_tls_new(&how, host, fds[0], why);
    ck_assert_msg(tls != NULL, "%s", why);
}

static void end(void)
{
    later_tls_free(tls);
    SSL_free(server);
    SSL_CTX_free(context);
    close(fds[0]);
    close(fds[1]);
    unlink(file);
    rmdir(folder);
}

/* Both go on by turns. Returns 1, or what is not 0 from ours. */
static int shake(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int ours = later_tls_shake(tls), code = errno, theirs = SSL_do_handshake(server);

        errno = code;
        if (ours < 0 || (ours == 1 && theirs == 1))
            return ours;
    }
    return 0;
}

static void greet(void)
{
    begin(3600, "here");
    ck_assert_msg(shake() == 1, "%s", later_tls_why(tls));
}

static bool readable(void)
{
    struct pollfd poller = { .fd = fds[0], .events = POLLIN };

    return poll(&poller, 1, 0) > 0;
}

/* ---- the handshake */

CASE("handshakes", NULL, NULL);

TEST(test_waits)
{
    begin(3600, "here");
    ck_assert_int_eq(later_tls_shake(tls), 0);
    ck_assert_msg(!later_tls_watches(tls, true), "it writes, but waits for the server's word");
    ck_assert_int_eq(later_tls_shake(tls), 0);
    ck_assert_int_eq(shake(), 1);
    ck_assert(later_tls_watches(tls, true));
    ck_assert(!later_tls_watches(tls, false));
    end();
}

TEST(test_refuses)
{
    static const struct {
        const char *host, *why;
        long seconds;
    } rows[] = { { "elsewhere", "wrong name: it is for here, not for elsewhere", 3600 },
                 { "127.0.0.1", "wrong name: it is for here, not for 127.0.0.1", 3600 },
                 { "here", "has expired on ", -3600 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].seconds, rows[i].host);
        ck_assert_int_eq(shake(), -1);
        ck_assert_int_eq(errno, EPROTO);
        ck_assert_msg(strstr(later_tls_why(tls), rows[i].why) != NULL, "%s", later_tls_why(tls));
        end();
    }
}

TEST(test_no_tls)
{
    begin(3600, "here");
    ck_assert_int_eq(later_tls_shake(tls), 0);
    ck_assert_int_eq(write(fds[1], "-ERR unknown command\r\n", 22), 22);
    ck_assert_int_eq(later_tls_shake(tls), -1);
    ck_assert_ptr_nonnull(strstr(later_tls_why(tls), "does not speak it"));
    end();
    begin(3600, "here");
    ck_assert_int_eq(later_tls_shake(tls), 0);
    shutdown(fds[1], SHUT_RDWR);
    ck_assert_int_eq(later_tls_shake(tls), -1);
    ck_assert_ptr_nonnull(strstr(later_tls_why(tls), "has closed the connection"));
    end();
}

/* ---- bytes */

CASE("bytes", NULL, NULL);

/* What was read ahead does not show in the socket. */
TEST(test_more)
{
    char bytes[8];

    greet();
    ck_assert_int_eq(SSL_write(server, "0123456789", 10), 10);
    ck_assert_int_eq(SSL_write(server, "abcdef", 6), 6);
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), 8);
    ck_assert_mem_eq(bytes, "01234567", 8);
    ck_assert(!readable());
    ck_assert(later_tls_more(tls));
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), 8);
    ck_assert_mem_eq(bytes, "89abcdef", 8);
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert(!later_tls_more(tls));
    end();
}

/* The last bytes and the end come together. */
TEST(test_end)
{
    char bytes[64];

    greet();
    ck_assert_int_eq(SSL_write(server, "bye", 3), 3);
    SSL_shutdown(server);
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), 3);
    ck_assert_msg(later_tls_more(tls), "the end is still to be reported");
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), 0);
    end();
}

/* Bytes that were changed on their way: what came before is delivered first. */
TEST(test_changed)
{
    char bytes[64];

    greet();
    ck_assert_int_eq(SSL_write(server, "good", 4), 4);
    ck_assert_int_eq(write(fds[1], "\x17\x03\x03\x00\x14 not from the server", 25), 25);
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), 4);
    ck_assert(later_tls_more(tls));
    ck_assert_int_eq(later_tls_read(tls, bytes, sizeof bytes), -1);
    ck_assert_int_eq(errno, EPROTO);
    ck_assert_str_ne(later_tls_why(tls), "");
    end();
}

/* A socket that takes no more: nothing is lost and nothing is sent twice, in pieces of any size. */
TEST(test_full)
{
    static char sent[300000], got[sizeof sent];
    size_t written = 0, have = 0, refused = 0;

    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (char)(i * 7 + i / 251);
    greet();
    while (have < sizeof got) {
        struct iovec pieces[3] = { { sent + written, (sizeof sent - written) / 3 },
                                   { NULL, 0 },
                                   { NULL, (sizeof sent - written) / 7 } };
        ssize_t some;
        int read = 0;

        pieces[1].iov_base = pieces[2].iov_base = sent + written + pieces[0].iov_len;
        pieces[1].iov_len = pieces[2].iov_len;
        pieces[2].iov_base = (char *)pieces[1].iov_base + pieces[1].iov_len;
        if (written < sizeof sent && pieces[0].iov_len == 0)
            pieces[0].iov_len = 1, pieces[1].iov_len = pieces[2].iov_len = 0;
        some = written < sizeof sent ? later_tls_write(tls, pieces, 3) : 0;
        if (some > 0) {
            written += (size_t)some;
            continue;
        }
        if (some < 0) {
            ck_assert_int_eq(errno, EAGAIN);
            ck_assert(later_tls_watches(tls, true));
            refused++;
        }
        read = SSL_read(server, got + have, 30000);
        ck_assert_int_gt(read, 0);
        have += (size_t)read;
    }
    ck_assert_mem_eq(got, sent, sizeof sent);
    ck_assert_uint_gt(refused, 0);
    end();
}

/* Whoever writes after the end lives on: the program may not ignore SIGPIPE. */
TEST(test_no_signal)
{
    struct iovec piece = { "x", 1 };

    greet();
    shutdown(fds[1], SHUT_RDWR);
    close(fds[1]);
    fds[1] = open("/dev/null", O_RDWR);
    ck_assert_int_eq(later_tls_write(tls, &piece, 1), -1);
    ck_assert_int_eq(errno, EPIPE);
    end();
}
