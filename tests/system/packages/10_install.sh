# 10_install.sh: from a package to a service that performs jobs.
# shellcheck shell=sh disable=SC2034,SC2154
begin_section 'installed'

# traces: prints what is named after laterd, or belongs to its user
traces()
{
    find / \( -path /proc -o -path /sys -o -path /build -o -path /tests -o -path /tools -o -path /out \
        -o -path /var/lib/dpkg -o -path /var/log \) -prune -o \
        \( -name '*laterd*' -o -name 'later-*' -o -name later -o -nouser -o -nogroup \) -print 2>/dev/null | sort
    getent passwd laterd
    getent group laterd
}

# configured: prints a checksum of each file in /etc; those that end in - are copies that passwd makes
configured()
{
    find /etc -type f ! -name '*-' -exec cksum {} + | sort
}

# apt_get WORD...
apt_get()
{
    DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >/root/apt 2>&1
}

traces >/root/traces
configured >/root/configured
begun=$(date +%s%3N)
runs "apt-get install ./laterd_*.deb" apt_get install /build/old/laterd_*.deb
later push null >/dev/null
within 10 "the service performs a job, with nothing else said" performed 1
echo "# $(($(date +%s%3N) - begun)) ms from the package to the first job"
is "$(systemctl is-active laterd) $(systemctl is-enabled laterd)" 'active enabled' "it starts with the machine"
runs "laterd -t takes the configuration" laterd -t
runs "later status" later status --local
for shell in bash-completion/completions/later zsh/vendor-completions/_later fish/vendor_completions.d/later.fish; do
    runs "it completes: ${shell%%[/-]*}" cmp "/usr/share/$shell" - <<COMPLETES
$(later completion "${shell%%[/-]*}")
COMPLETES
done
is "$(stat -c '%U %G %a' "$state" "$state/redis.sock" | tr '\n' ' ')" 'laterd laterd 750 laterd laterd 660 ' \
    "its files are the user's, its socket the group's"
runs "apt-get install ./later-web_*.deb" apt_get install /build/old/later-web_*.deb
is "$(systemctl is-active laterd-web.socket)" active "the pages' socket is there"
