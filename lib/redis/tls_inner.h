/*
 * tls_inner.h: what tls.c and tls_why.c share, and nobody else.
 */
#ifndef LATER_TLS_INNER_H
#define LATER_TLS_INNER_H

#include "redis/tls.h"

#include <openssl/ssl.h>

struct later_tls {
    SSL_CTX *context;
    SSL *ssl;
    BIO_METHOD *method; /* of its BIO, which reads and writes the socket */
    int fd;
    struct later_address_tls how;
    char host[256];   /* whose name the certificate must have */
    bool ended;       /* the socket has */
    bool demanded;    /* the peer has asked for a certificate, and we have none */
    bool heard;       /* something was read */
    bool more;        /* the last read stopped before it had to wait */
    bool read_waits;  /* reading waits until the socket takes bytes */
    bool write_waits; /* writing waits until the socket has some */
    int failed;       /* errno for the next read: the last one had bytes to return first */
    char why[LATER_TLS_WHY];
};

/* --- tls_why.c: says in tls->why what is wrong, unless something is there already */

/* A file cannot be used: by errno, or if that is 0, by what OpenSSL has noted. */
void later_tls_blame_file(struct later_tls *tls, const char *what, const char *file);

/* A certificate of the peer's was not taken. */
void later_tls_blame_peer(struct later_tls *tls, X509_STORE_CTX *verdict);

/* OpenSSL has noted an error; or the peer has left. */
void later_tls_blame_error(struct later_tls *tls);
void later_tls_blame_end(struct later_tls *tls);

#endif
