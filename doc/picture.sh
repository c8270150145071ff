#!/bin/sh
# picture.sh: the terminal picture of README.md, from a real run:
#
#     ./quickstart | doc/picture.sh >doc/quickstart.svg
#
# Each line of standard input becomes a line of the picture; of those that a terminal would overwrite
# (carriage returns) only the last counts.
set -eu

expand | sed 's/.*\r//; s/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' | awk '
    { lines[++count] = $0; if (length($0) > widest) widest = length($0) }
    END {
        width = widest * 8.4 + 40
        height = (count + 1) * 20 + 56
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"", width, height
        print " role=\"img\" aria-label=\"What ./quickstart prints\">"
        print "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1d2430\"/>"
        split("#e0605a #d9a83f #62b35c", dots, " ")
        for (i = 1; i <= 3; i++)
            printf "<circle cx=\"%d\" cy=\"20\" r=\"6\" fill=\"%s\"/>\n", 4 + 20 * i, dots[i]
        print "<g font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"14\"" \
            " fill=\"#d7dde8\" xml:space=\"preserve\">"
        print "<text x=\"20\" y=\"56\" fill=\"#8fb4ff\">$ ./quickstart</text>"
        for (i = 1; i <= count; i++)
            printf "<text x=\"20\" y=\"%d\"%s>%s</text>\n", 56 + 20 * i,
                lines[i] ~ / lost$/ ? " fill=\"#8fdc8a\" font-weight=\"bold\"" : "", lines[i]
        print "</g>"
        print "</svg>"
    }'
