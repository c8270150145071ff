# tls_lib.sh: what the tests of TLS share, on top of lib.sh: certificates in $work, made for this run.
# shellcheck shell=sh

# request NAME: a key, and a wish for a certificate.
request()
{
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$1.key" \
        -out "$work/$1.csr" -subj "/CN=$1" 2>/dev/null
}

# authority NAME
authority()
{
    request "$1"
    openssl x509 -req -in "$work/$1.csr" -out "$work/$1.crt" -days 2 -signkey "$work/$1.key" \
        -extfile /dev/stdin 2>/dev/null <<'EXTENSIONS'
basicConstraints=critical,CA:true
EXTENSIONS
}

# certificate NAME AUTHORITY ALTERNATIVE-NAMES [DAYS]: with 0 DAYS it ends as it begins.
certificate()
{
    request "$1"
    openssl x509 -req -in "$work/$1.csr" -out "$work/$1.crt" -days "${4:-2}" -CA "$work/$2.crt" \
        -CAkey "$work/$2.key" -CAcreateserial -extfile /dev/stdin 2>/dev/null <<EXTENSIONS
subjectAltName=$3
EXTENSIONS
}

# tls_options NAME AUTHORITY: lines of redis.conf for a server with this certificate.
tls_options()
{
    printf '%s\n' "tls-ca-cert-file $work/$2.crt" "tls-cert-file $work/$1.crt" \
        "tls-key-file $work/$1.key"
}

# open_port OPTION: lets our Redis listen on a free port, as `port` or `tls-port`, and prints it.
open_port()
{
    free=$(($$ % 20000 + 20000))
    until [ "$(redis config set "$1" "$free")" = OK ]; do
        free=$((free + 1))
    done
    echo "$free"
}
