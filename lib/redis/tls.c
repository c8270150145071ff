/* tls.c: TLS on a connected socket. */
#include "redis/tls_inner.h"

#include "base/uncleared.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORD    16384 /* bytes of a TLS record */
#define READ_SIZE 65536 /* what is taken from the socket in one go */

/* --- the socket, as a BIO: OpenSSL's own would raise SIGPIPE --- */

static bool tls_must_wait(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int bio_write(BIO *bio, const char *bytes, int len)
{
    const struct later_tls *tls = BIO_get_data(bio);
    ssize_t sent = send(tls->fd, bytes, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);

    BIO_clear_retry_flags(bio);
    if (sent < 0 && tls_must_wait())
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int bio_read(BIO *bio, char *bytes, int room)
{
    struct later_tls *tls = BIO_get_data(bio);
    ssize_t got = recv(tls->fd, bytes, (size_t)room, MSG_DONTWAIT);

    BIO_clear_retry_flags(bio);
    if (got < 0 && tls_must_wait())
        BIO_set_retry_read(bio);
    tls->ended = got == 0;
    return (int)got;
}

static long bio_control(BIO *bio, int what, long number, void *arg)
{
    const struct later_tls *tls = BIO_get_data(bio);

    (void)number;
    (void)arg;
    return what == BIO_CTRL_FLUSH || (what == BIO_CTRL_EOF && tls->ended);
}

static bool make_bio(struct later_tls *tls)
{
    BIO *bio;

    tls->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "laterd");
    if (!tls->method || !BIO_meth_set_write(tls->method, bio_write) ||
        !BIO_meth_set_read(tls->method, bio_read) || !BIO_meth_set_ctrl(tls->method, bio_control) ||
        !(bio = BIO_new(tls->method)))
        return false;
    BIO_set_data(bio, tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls->ssl, bio, bio);
    return true;
}

/* --- making --- */

/* Keys with a passphrase are refused; OpenSSL would ask for it on the terminal. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
    (void)buf;
    (void)size;
    (void)writing;
    (void)arg;
    return -1;
}

static int on_verified(int good, X509_STORE_CTX *verdict)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(verdict, SSL_get_ex_data_X509_STORE_CTX_idx());

    if (!good)
        later_tls_blame_peer(SSL_get_app_data(ssl), verdict);
    return good;
}

/* The peer asks for a certificate. This is called if we have none. */
static int on_demanded(SSL *ssl, X509 **cert, EVP_PKEY **key)
{
    (void)cert;
    (void)key;
    ((struct later_tls *)SSL_get_app_data(ssl))->demanded = true;
    return 0;
}

/* Can it be opened? OpenSSL would not say why not. */
static bool tls_readable(struct later_tls *tls, const char *what, const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        later_tls_blame_file(tls, what, file);
        return false;
    }
    close(fd);
    errno = 0; /* from here on OpenSSL has the reason */
    return true;
}

static bool take_files(struct later_tls *tls)
{
    const struct later_address_tls *how = &tls->how;
    SSL_CTX *context = tls->context;

    if (!how->ca[0])
        SSL_CTX_set_default_verify_paths(context);
    else if (!tls_readable(tls, "authority's certificate", how->ca) ||
             !SSL_CTX_load_verify_file(context, how->ca))
        later_tls_blame_file(tls, "authority's certificate", how->ca);
    if (!how->cert[0] || tls->why[0])
        return !tls->why[0];
    if (!tls_readable(tls, "certificate", how->cert) ||
        SSL_CTX_use_certificate_chain_file(context, how->cert) != 1)
        later_tls_blame_file(tls, "certificate", how->cert);
    else if (!tls_readable(tls, "key", how->key) ||
             SSL_CTX_use_PrivateKey_file(context, how->key, SSL_FILETYPE_PEM) != 1)
        later_tls_blame_file(tls, "key", how->key);
    return !tls->why[0];
}

static bool make_context(struct later_tls *tls)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    tls->context = context;
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION))
        return false;
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_SIZE);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_verified);
    SSL_CTX_set_client_cert_cb(context, on_demanded);
    return take_files(tls);
}

/* The name that the certificate must have, and that the peer is told (SNI), unless it is a number.
 */
static bool set_name(struct later_tls *tls)
{
    unsigned char ip[sizeof(struct in6_addr)];
    X509_VERIFY_PARAM *param = SSL_get0_param(tls->ssl);

    if (inet_pton(AF_INET, tls->host, ip) == 1 || inet_pton(AF_INET6, tls->host, ip) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(param, tls->host) == 1;
    SSL_set_hostflags(tls->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls->ssl, tls->host) == 1 &&
           SSL_set_tlsext_host_name(tls->ssl, tls->host) == 1;
}

struct later_tls *later_tls_new(const struct later_address_tls *how, const char *host, int fd,
                                char why[LATER_TLS_WHY])
{
    struct later_tls *tls = calloc(1, sizeof *tls);

    snprintf(why, LATER_TLS_WHY, "TLS: no memory");
    if (!tls)
        return NULL;
    tls->how = *how;
    tls->fd = fd;
    snprintf(tls->host, sizeof tls->host, "%s", how->name[0] ? how->name : host);
    ERR_clear_error();
    if (make_context(tls) && (tls->ssl = SSL_new(tls->context)) && make_bio(tls) && set_name(tls)) {
        SSL_set_app_data(tls->ssl, tls);
        SSL_set_connect_state(tls->ssl);
        return tls;
    }
    if (tls->why[0])
        snprintf(why, LATER_TLS_WHY, "%s", tls->why);
    later_tls_free(tls);
    return NULL;
}

void later_tls_free(struct later_tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl); /* with its BIO; sends nothing */
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->method);
    free(tls);
}

/* --- the connection --- */

/* After a call that has not succeeded: returns 0 at the end of the connection, or -1 with errno. */
static int tls_outcome(struct later_tls *tls, int result)
{
    int why = errno;

    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        later_tls_blame_end(tls);
        return 0;
    case SSL_ERROR_SYSCALL:
        if (why == ECONNRESET || why == EPIPE || !why)
            later_tls_blame_end(tls);
        errno = why;
        return why ? -1 : 0;
    default:
        later_tls_blame_error(tls);
        errno = EPROTO;
        return -1;
    }
}

int later_tls_shake(struct later_tls *tls)
{
    int done;

    ERR_clear_error();
    errno = 0;
    tls->write_waits = tls->read_waits = false;
    done = SSL_do_handshake(tls->ssl);
    if (done == 1)
        return 1;
    tls->write_waits = SSL_want_read(tls->ssl);
    if (tls_outcome(tls, done) == 0)
        errno = ECONNRESET;
    return errno == EAGAIN ? 0 : -1;
}

ssize_t later_tls_read(struct later_tls *tls, char *bytes, size_t room)
{
    size_t used = 0;
    int end = 1;

    errno = tls->failed;
    if (tls->failed)
        return -1;
    tls->read_waits = false;
    while (used < room && end > 0) {
        size_t got = 0;

        ERR_clear_error();
        errno = 0;
        end = SSL_read_ex(tls->ssl, bytes + used, room - used, &got);
        used += got;
        tls->heard = tls->heard || got > 0;
        if (end <= 0) {
            tls->read_waits = SSL_want_write(tls->ssl);
            end = tls_outcome(tls, end);
        }
    }
    tls->more = used > 0 && (end >= 0 || errno != EAGAIN);
    if (used == 0)
        return end;
    if (end < 0 && errno != EAGAIN)
        tls->failed = errno;
    return (ssize_t)used;
}

/* Many small commands go into one record: each record costs some µs, and a system call. */
static size_t fill_record(char record[RECORD], const struct iovec *pieces, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count && used < RECORD; i++) {
        size_t some = pieces[i].iov_len < RECORD - used ? pieces[i].iov_len : RECORD - used;

        memcpy(record + used, pieces[i].iov_base, some);
        used += some;
    }
    return used;
}

ssize_t later_tls_write(struct later_tls *tls, const struct iovec *pieces, size_t count)
{
    char record[RECORD] LATER_UNCLEARED; /* fill_record() writes what is sent */
    size_t len = fill_record(record, pieces, count), sent = 0;

    ERR_clear_error();
    errno = 0;
    tls->write_waits = false;
    if (SSL_write_ex(tls->ssl, record, len, &sent) == 1)
        return (ssize_t)sent;
    tls->write_waits = SSL_want_read(tls->ssl);
    if (tls_outcome(tls, 0) == 0)
        errno = EPIPE;
    return -1;
}

const char *later_tls_why(const struct later_tls *tls)
{
    return tls->why;
}

bool later_tls_watches(const struct later_tls *tls, bool writing)
{
    return tls->read_waits || (writing && !tls->write_waits);
}

bool later_tls_more(const struct later_tls *tls)
{
    return tls->more;
}
