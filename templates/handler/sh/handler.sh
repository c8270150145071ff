#!/bin/sh
# Performs one job of the type @NAME@ per process. The document is on standard input. LATER_ID,
# LATER_ATTEMPT and other variables say more. What it prints is logged, and becomes the error if it
# fails. The exit status is the result: 0 = done, 65 = dead at once, 75 = returned, anything else =
# try again.
set -eu

document=$(cat)    # for its parts: name=$(printf '%s' "$document" | jq -r .payload.name)
case $document in
*'"name"'*) ;;
*)
    echo 'payload.name is missing'
    exit 65
    ;;
esac
echo "hello, job $LATER_ID"
