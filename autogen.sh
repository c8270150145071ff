#!/bin/sh
# autogen.sh: makes ./configure in a clone. A release has it already.
set -eu

cd "$(dirname "$0")"
for tool in autoconf automake; do
    command -v "$tool" >/dev/null || {
        echo "autogen.sh: $tool is missing: apt-get install autoconf automake" >&2
        exit 69
    }
done
autoreconf --install "$@"
