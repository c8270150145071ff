#!/bin/sh
# journal.sh: writes each job into a journal. Long-lived: a line in, a line out for each job.
#
# Jobs come on standard input, answers go to descriptor 3; whatever is printed is logged.
# sh has no JSON, but the id comes first in each line: what stands between its quotes is handed back
# as it is. (Not for ids with a quote or a backslash in them.)

while IFS= read -r line; do
    id=${line#'{"id":"'}
    id=${id%%'"'*}
    if printf '%s\n' "$line" >>"$FOLDER/journal"; then
        printf '{"id":"%s","result":"done"}\n' "$id" >&3
    else
        printf '{"id":"%s","result":"retry","error":"cannot write","in":60}\n' "$id" >&3
    fi
done
