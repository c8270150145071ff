#!/bin/sh
# The catalogues of the pages have all that the pages and the server say, and nothing else.
. "${top_srcdir:=.}/tests/tap.sh"
needs python3

python3 "$top_srcdir/tests/languages.py" "$top_srcdir" >"${TMPDIR:-/tmp}/languages.$$"
ended=$?
while IFS= read -r line; do
    case $line in
    'ok '*) ok "${line#ok }" ;;
    'not ok '*) not_ok "${line#not ok }" ;;
    *) echo "$line" ;;
    esac
done <"${TMPDIR:-/tmp}/languages.$$"
rm -f "${TMPDIR:-/tmp}/languages.$$"
is "$ended" 0 "languages.py comes to its end"

# index.html offers each of them.
offered=$(sed -n 's/.*<option value="\([^"]*\)" lang="\1">.*/\1/p' "$top_srcdir/web/pages/index.html" | sort | tr '\n' ' ')
there=$({ echo en && for file in "$top_srcdir"/web/pages/words/*.json; do basename "$file" .json; done; } | sort | tr '\n' ' ')
is "$offered" "$there" "index.html offers each catalogue, and English"
for language in $there; do
    [ "$language" = en ] || runs "Makefile.am has $language.json" grep -q "web/pages/words/$language\.json" "$top_srcdir/Makefile.am"
done
# shellcheck disable=SC2086 # words
is "$(grep -o 'pages, in [A-Z].*' "$top_srcdir/NEWS" | grep -oE '[A-Z][a-z]+' | wc -l)" "$(set -- $there && echo $#)" \
    "NEWS names as many languages"
finish
