#!/bin/sh
# Performs a job of the type @NAME@: a process for each. The document is on standard input; LATER_ID,
# LATER_ATTEMPT and others say more. What is printed is logged, and is the error where it fails. The
# exit status says how it went: 0 done, 65 dead at once, 75 given back, all else tried again.
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
