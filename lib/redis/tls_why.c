/* tls_why.c: what is wrong with TLS, in one line, and what to do. */
#include "redis/tls_inner.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DAY_SIZE 16

__attribute__((format(printf, 2, 3))) static void blame(struct later_tls *tls, const char *format,
                                                        ...)
{
    va_list args;

    if (tls->why[0])
        return;
    va_start(args, format);
    vsnprintf(tls->why, sizeof tls->why, format, args);
    va_end(args);
}

static const char *words_of(unsigned long code)
{
    const char *words = ERR_reason_error_string(code);

    return words ? words : "no reason given";
}

/* --- our files --- */

void later_tls_blame_file(struct later_tls *tls, const char *what, const char *file)
{
    unsigned long code = ERR_peek_error();

    if (errno)
        blame(tls, "TLS: cannot read the %s %.150s: %s%s", what, file, strerror(errno),
              errno == EACCES ? ": let our user or group read it" : "");
    else if (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH)
        blame(tls, "TLS: the %s %.110s does not belong to the certificate %.110s", what, file,
              tls->how.cert);
    else
        blame(tls, "TLS: the %s %.110s is not right: it must be in PEM%s (%.60s)", what, file,
              strcmp(what, "key") == 0 ? ", without a passphrase" : "", words_of(code));
}

/* --- the peer's certificate --- */

static void name_issuer(X509 *peer, char *name, size_t room)
{
    X509_NAME *issuer = X509_get_issuer_name(peer);

    if (X509_NAME_get_text_by_NID(issuer, NID_commonName, name, (int)room) < 0 &&
        X509_NAME_get_text_by_NID(issuer, NID_organizationName, name, (int)room) < 0)
        snprintf(name, room, "nobody");
}

static const char *day_of(const ASN1_TIME *time, char day[DAY_SIZE])
{
    struct tm tm = { 0 };

    ASN1_TIME_to_tm(time, &tm);
    strftime(day, DAY_SIZE, "%F", &tm);
    return day;
}

/* Writes a name of a certificate, or "" if it is of another kind. */
static void write_name(const GENERAL_NAME *name, char *text, size_t room)
{
    const ASN1_STRING *ip = name->type == GEN_IPADD ? name->d.iPAddress : NULL;

    text[0] = '\0';
    if (name->type == GEN_DNS)
        snprintf(text, room, "%.*s", ASN1_STRING_length(name->d.dNSName),
                 (const char *)ASN1_STRING_get0_data(name->d.dNSName));
    else if (ip && (ASN1_STRING_length(ip) == 4 || ASN1_STRING_length(ip) == 16))
        inet_ntop(ASN1_STRING_length(ip) == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(ip), text,
                  (socklen_t)room);
}

/* The names that a certificate is for, as many as fit: `a, b`. */
static void list_names(X509 *peer, char *list, size_t room)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(peer, NID_subject_alt_name, NULL, NULL);
    size_t used = 0;

    list[0] = '\0';
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        char text[128];

        write_name(sk_GENERAL_NAME_value(names, i), text, sizeof text);
        if (*text && used + strlen(text) + 3 < room)
            used += (size_t)snprintf(list + used, room - used, "%s%s", used ? ", " : "", text);
    }
    GENERAL_NAMES_free(names);
    if (!used &&
        X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, list, (int)room) < 0)
        snprintf(list, room, "nobody");
}

void later_tls_blame_peer(struct later_tls *tls, X509_STORE_CTX *verdict)
{
    X509 *peer = X509_STORE_CTX_get_current_cert(verdict);
    const char *whose = X509_STORE_CTX_get_error_depth(verdict) ? "an authority" : "the server";
    char name[130], day[DAY_SIZE];

    switch (X509_STORE_CTX_get_error(verdict)) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        blame(tls, "TLS: the certificate of %s has expired on %s: renew it", whose,
              day_of(X509_get0_notAfter(peer), day));
        return;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        blame(tls, "TLS: the certificate of %s is not valid before %s: is this host's clock right?",
              whose, day_of(X509_get0_notBefore(peer), day));
        return;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        list_names(peer, name, sizeof name);
        blame(tls,
              "TLS: the server's certificate has the wrong name: it is for %s, not for %.80s: use "
              "its name in the URL, or say name=",
              name, tls->host);
        return;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        name_issuer(peer, name, 60);
        blame(tls,
              "TLS: the server's certificate is from an unknown authority: %s, which is not in "
              "%.120s: name its file by ca=",
              name, tls->how.ca[0] ? tls->how.ca : "this system's list");
        return;
    default:
        blame(tls, "TLS: the certificate of %s is not good: %s", whose,
              X509_verify_cert_error_string(X509_STORE_CTX_get_error(verdict)));
    }
}

/* --- the connection --- */

static const char no_certificate[] =
    "TLS: the server wants a certificate of ours, and none was shown: name it by cert= and key=";

void later_tls_blame_error(struct later_tls *tls)
{
    unsigned long code = ERR_peek_error();

    switch (ERR_GET_REASON(code)) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        blame(tls, "%s", no_certificate);
        return;
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        blame(tls, "%s",
              tls->demanded ? no_certificate
                            : "TLS: the server has no version and cipher in common with us");
        return;
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        blame(tls,
              "TLS: the server does not know the authority of our certificate %.120s: it must be "
              "in tls-ca-cert-file there",
              tls->how.cert);
        return;
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        blame(tls, "TLS: our certificate %.200s has expired: renew it", tls->how.cert);
        return;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_HTTP_REQUEST:
        blame(tls, "TLS: the other side does not speak it: name the server's port for TLS "
                   "(tls-port), or a URL without");
        return;
    default:
        blame(tls, "TLS: %.200s", words_of(code));
    }
}

void later_tls_blame_end(struct later_tls *tls)
{
    if (tls->demanded && !tls->heard)
        blame(tls, "%s", no_certificate);
    else if (!SSL_is_init_finished(tls->ssl))
        blame(
            tls,
            "TLS: the other side has closed the connection: is this its port for TLS (tls-port)?");
}
