# options.awk: fills the regions of a file that are made from options.tab.
#
#     awk -f options.awk options.tab FILE
#
# A region begins with a line that has `@options WHO +N: TEMPLATE` in a comment, and ends with the
# next line that has `@end`. N lines after its beginning stay as they are (`+N` may be missing). Then
# comes the template for each row that has one of the words WHO (a,b,c) in its column `in`, or as its
# name or kind; `push` means all rows. The beginning's indentation comes before each line.
#
# In a template, `{column}` stands for the value of the row, or else of its kind; {dashed}, {camel},
# {Pascal}, {UPPER} and {py} are its name in other spellings, with the exceptions of the table; {KIND}
# its kind in capitals; {Help} its help as a sentence; {default} and {empty} tell what counts if it is not
# said. `\n` begins a line, and `/@ @/` is a comment of C.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

function camel(name,    parts, i, n, all) {
    n = split(name, parts, "_")
    for (i = 1; i <= n; i++) all = all toupper(substr(parts[i], 1, 1)) substr(parts[i], 2)
    return all
}

function value(row, column) {
    if ((row, column) in cells) return cells[row, column]
    return kinds[cells[row, "kind"], column]
}

# Fills in a template, also what its values have in braces.
function fill(row, template,    word) {
    while (match(template, /\{[A-Za-z]+[A-Za-z_0-9]*\}/)) {
        word = substr(template, RSTART + 1, RLENGTH - 2)
        template = substr(template, 1, RSTART - 1) value(row, word) substr(template, RSTART + RLENGTH)
    }
    return template
}

function is_of(row, who,    words, i, n) {
    n = split(who, words, ",")
    for (i = 1; i <= n; i++)
        if (words[i] == "push" || words[i] == cells[row, "name"] || words[i] == cells[row, "kind"] || index(" " cells[row, "in"] " ", " " words[i] " ")) return 1
    return 0
}

function put(who, template, indent,    row, text) {
    for (row = 1; row <= rows; row++) {
        if (!is_of(row, who)) continue
        text = fill(row, template)
        gsub(/\\n/, "\n" indent, text)
        print indent text
    }
}

NR == FNR && /^# (option|kind|spelling) +\|/ {
    count = split(substr($0, 3), heads, / [|] /)
    for (i = 1; i <= count; i++) heads[i] = trim(heads[i])
    next
}
NR == FNR && /^[a-z]/ {
    split($0, fields, / [|] /)
    first = trim(fields[1])
    if (heads[1] == "option") {
        number[first] = ++rows
        cells[rows, "name"] = cells[rows, "plain"] = first
        cells[rows, "dashed"] = first
        gsub(/_/, "-", cells[rows, "dashed"])
        cells[rows, "Pascal"] = camel(first)
        cells[rows, "UPPER"] = toupper(first)
        cells[rows, "py"] = first
        cells[rows, "camel"] = tolower(substr(first, 1, 1)) substr(camel(first), 2)
    }
    for (i = 2; i <= count; i++) {
        if (heads[1] == "option") cells[rows, heads[i]] = trim(fields[i])
        else if (heads[1] == "kind") kinds[first, heads[i]] = trim(fields[i])
    }
    if (heads[1] == "option") {
        cells[rows, "KIND"] = toupper(cells[rows, "kind"])
        if (cells[rows, "unsaid"] ~ /^(0|a new one)$/) cells[rows, "default"] = " (" cells[rows, "unsaid"] ")"
        cells[rows, "Help"] = toupper(substr(cells[rows, "help"], 1, 1)) substr(cells[rows, "help"], 2) "."
        hint = kinds[cells[rows, "kind"], "hint"]
        cells[rows, "empty"] = cells[rows, "unsaid"] (hint == "" ? "" : "; " hint)
    }
    if (heads[1] == "spelling") cells[number[first], trim(fields[2])] = trim(fields[3])
    next
}
NR == FNR { next }

/@options [a-z_,]+( \+[0-9]+)?: / {
    print
    indent = $0
    sub(/[^ \t].*/, "", indent)
    rest = substr($0, index($0, "@options ") + 9)
    keep = 0
    who = rest
    sub(/[ :].*/, "", who)
    if (match(rest, /^[a-z_,]+ \+[0-9]+/)) keep = substr(rest, index(rest, "+") + 1) + 0
    template = substr(rest, index(rest, ": ") + 2)
    sub(/ *(\*\/|-->)( *\\)?$/, "", template)
    gsub(/\/@/, "/*", template)
    gsub(/@\//, "*/", template)
    while (keep-- > 0 && (getline line) > 0) print line
    put(who, template, indent)
    skip = 1
    next
}
/@end/ { skip = 0 }
!skip
