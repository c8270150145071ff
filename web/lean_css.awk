# lean_css.awk: what a browser gets of a style sheet: without comments, which have lines to themselves, and without
# the blanks and lines that only people need. A text, in " ", stays as it is.

function fail(words) {
    print "lean_css.awk: " FILENAME ":" FNR ": " words >"/dev/stderr"
    failed = 1
    exit 1
}

function lean(css) {
    gsub(/ +/, " ", css)
    gsub(/ ?[{] ?/, "{", css)
    gsub(/ ?[}] ?/, "}", css)
    gsub(/; /, ";", css)
    gsub(/, /, ",", css)
    gsub(/: /, ":", css)
    gsub(/ > /, ">", css)
    gsub(/;[}]/, "}", css)
    return css
}

/^ *\/\*/ { comment = 1 }
comment {
    if (/\*\/ *$/) comment = 0
    next
}
!NF { next }
/\/\*/ { fail("a comment has lines to itself") }

# In the odd parts, nothing is a text.
{
    n = split($0, part, "\"")
    if (n % 2 == 0) fail("a text does not span lines")
    sub(/^ +/, "", part[1])
    for (i = 1; i <= n; i++) all = all (i > 1 ? "\"" : "") (i % 2 ? lean(part[i]) : part[i])
}

END {
    if (failed) exit 1
    gsub(/;[}]/, "}", all)
    print all
}
