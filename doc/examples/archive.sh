#!/bin/sh
# archive.sh: keeps each job's document as a file of its own. One process per job.
#
# The document is on standard input; $LATER_ID and the like say more. Exit status 0: done;
# 65: buried, trying again cannot help; 75: given back; all else: tried again. What is printed becomes the error.
set -eu

case $LATER_ID in
*/* | .*)
    echo "the id $LATER_ID is no file name"
    exit 65
    ;;
esac

# Another attempt at the same job writes the same file again: at least once, and no harm.
cat >"$FOLDER/.$LATER_ID.new"
mv "$FOLDER/.$LATER_ID.new" "$FOLDER/$LATER_ID.json"
