# tables.awk: fills the regions of a file that are made from tables.
#
#     awk -f tables.awk TABLE.tab... FILE
#
# A table has sections. The line `# SECTION | COLUMN …` begins one, and then come its rows, which begin with
# their name. The rows of `kind` are not rows of their own: they are what the others have that name one. Those
# of `spelling` are exceptions.
#
# A region begins with a line that has `@TABLE WHO +N: TEMPLATE` in a comment, as `@options form,at: …`, and
# ends with the next line that has `@end`. N lines after its beginning stay as they are (`+N` may be
# missing). Then comes the template for each row of TABLE.tab that has one of the words WHO (a,b,c) as its
# section, name or kind, or in its column `in`. SECTION.NAME is one row, where several have the name. The
# beginning's indentation comes before each line.
#
# In a template, `{column}` stands for the value of the row, or else of its kind; {dashed}, {camel},
# {Pascal}, {UPPER} and {py} are its name in other spellings, with the exceptions of the table; {KIND}
# its kind in capitals; {Help} its help as a sentence; {default} and {empty} tell what counts if it is not
# said, {preset} that as a number. Its words are {quoted} (with commas), {either} (with |), {constants} of C;
# {barred} and {piped} are plain, with | or ` | ` between. `\n` begins a line, and `/@ @/` is a comment of C. A word WHO that no row has is a fault.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

function camel(name,    parts, i, n, all) {
    n = split(name, parts, "_")
    for (i = 1; i <= n; i++) all = all toupper(substr(parts[i], 1, 1)) substr(parts[i], 2)
    return all
}

function sentence(text) { return toupper(substr(text, 1, 1)) substr(text, 2) (text ~ /[.]$/ ? "" : ".") }

function value(row, column) {
    if ((row, column) in cells) return cells[row, column]
    return kinds[cells[row, "table"], cells[row, "kind"], column]
}

# Fills in a template, also what its values have in braces.
function fill(row, template,    word) {
    while (match(template, /\{[A-Za-z]+[A-Za-z_0-9]*\}/)) {
        word = substr(template, RSTART + 1, RLENGTH - 2)
        template = substr(template, 1, RSTART - 1) value(row, word) substr(template, RSTART + RLENGTH)
    }
    return template
}

# Has the row one of these words? It is noted which words a row has.
function is_of(row, who,    words, i, n, own, found) {
    own = cells[row, "section"] " " cells[row, "name"] " " cells[row, "kind"] " " cells[row, "in"] " " \
        cells[row, "section"] "." cells[row, "name"]
    n = split(who, words, ",")
    for (i = 1; i <= n; i++)
        if (index(" " own " ", " " words[i] " ")) found = known[words[i]] = 1
    return found
}

function put(table, who, template, indent,    row, text, words, i, n) {
    split("", known)
    for (row = 1; row <= rows; row++) {
        if (cells[row, "table"] != table || !is_of(row, who)) continue
        text = fill(row, template)
        gsub(/\\n/, "\n" indent, text)
        text = indent text
        gsub(/[ \t]+\n/, "\n", text)
        sub(/[ \t]+$/, "", text)
        print text
    }
    n = split(who, words, ",")
    for (i = 1; i <= n; i++) {
        if (words[i] in known) continue
        print FILENAME ": no row of " table " is " words[i] >"/dev/stderr"
        failed = 1
    }
}

# A list of words `a, b`, each between two texts, and another text between each two.
function list(words, before, after, between,    parts, i, n, all) {
    n = split(words, parts, ", ")
    for (i = 1; i <= n; i++) all = all (i > 1 ? between : "") before parts[i] after
    return all
}

function add_row(name, fields,    i, hint) {
    cells[++rows, "table"] = table
    cells[rows, "section"] = heads[1]
    cells[rows, "name"] = cells[rows, "plain"] = cells[rows, "dashed"] = cells[rows, "py"] = name
    gsub(/_/, "-", cells[rows, "dashed"])
    cells[rows, "Pascal"] = camel(name)
    cells[rows, "camel"] = tolower(substr(name, 1, 1)) substr(camel(name), 2)
    cells[rows, "UPPER"] = toupper(name)
    for (i = 2; i <= count; i++) cells[rows, heads[i]] = trim(fields[i])
    cells[rows, "KIND"] = toupper(cells[rows, "kind"])
    cells[rows, "Help"] = sentence(cells[rows, "help"])
    if (cells[rows, "unsaid"] ~ /^(0|a new one)$/) cells[rows, "default"] = " (" cells[rows, "unsaid"] ")"
    cells[rows, "quoted"] = list(cells[rows, "words"], "\"", "\"", ", ")
    cells[rows, "either"] = list(cells[rows, "words"], "\"", "\"", "|")
    cells[rows, "barred"] = list(cells[rows, "words"], "", "", "|")
    cells[rows, "piped"] = list(cells[rows, "words"], "", "", " | ")
    cells[rows, "constants"] = list(toupper(cells[rows, "words"]), "LATER_" toupper(name) "_", "", ", ")
    cells[rows, "preset"] = cells[rows, "unsaid"] + 0
    hint = kinds[table, cells[rows, "kind"], "hint"]
    cells[rows, "empty"] = cells[rows, "unsaid"] (hint == "" ? "" : "; " hint)
}

function respell(name, where, spelling,    row) {
    for (row = 1; row <= rows; row++)
        if (cells[row, "table"] == table && cells[row, "name"] == name) cells[row, where] = spelling
}

FNR == 1 {
    reads = FILENAME ~ /\.tab$/
    table = FILENAME
    gsub(/.*\/|\.tab$/, "", table)
    if (reads) tables = tables (tables == "" ? "" : "|") table
    begin = "@(" tables ") [a-z_.,]+( [+][0-9]+)?: "
}
reads && /^# [a-z]+ +[|] / {
    count = split(substr($0, 3), heads, / [|] /)
    for (i = 1; i <= count; i++) heads[i] = trim(heads[i])
    next
}
reads && /^[a-z]/ {
    sub(/ *[|] *$/, "") # its last columns may be empty
    split($0, fields, / [|] /)
    name = trim(fields[1])
    if (heads[1] == "spelling") respell(name, trim(fields[2]), trim(fields[3]))
    else if (heads[1] == "kind") for (i = 2; i <= count; i++) kinds[table, name, heads[i]] = trim(fields[i])
    else add_row(name, fields)
}
reads { next }

match($0, begin) {
    print
    indent = $0
    sub(/[^ \t].*/, "", indent)
    split(substr($0, RSTART + 1, RLENGTH - 3), words, " ")
    template = substr($0, RSTART + RLENGTH)
    sub(/ *(\*\/|-->)( *\\)?$/, "", template)
    gsub(/\/@/, "/*", template)
    gsub(/@\//, "*/", template)
    keep = words[3] + 0 # +N
    while (keep-- > 0 && (getline line) > 0) print line
    put(words[1], words[2], template, indent)
    skip = 1
    next
}
/@end/ { skip = 0 }
!skip
END { exit failed }
