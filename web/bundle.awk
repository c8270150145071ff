# bundle.awk: joins the scripts of web/pages/ into a few: each is compressed by itself, and asked for by itself,
# so that many small ones cost more.
#
#   awk -v to=FOLDER -f lean.awk -f bundle.awk bundle=NAME FILE... [bundle=NAME FILE...]
#
# writes FOLDER/NAME, and FOLDER/NAME.map, by which a browser's tools say of which file and line something is. In a
# bundle, a file is a function whose value is what it exports; those that it needs are before it, or in a bundle
# before this; one that awaits something at its top is awaited. What the file exports that is called as its bundle, the bundle does; it is the last one.

function fail(place, words) {
    print "bundle.awk: " place ": " words >"/dev/stderr"
    failed = 1
    exit 1
}

# The name of a file's function.
function variable(file) {
    sub(/\.js$/, "", file)
    gsub(/-/, "_", file)
    return "$" file
}

# ---- reading

BEGIN { DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" }

FNR == 1 {
    if (lean_depth) fail(file, "a text has no end")
    file = FILENAME
    sub(/.*\//, "", file)
    if (!(bundle in begin)) {
        bundles[++count] = bundle
        begin[bundle] = files + 1
    }
    all[++files] = file
    end[bundle] = files
    home[file] = bundle
}

{ here = file ":" FNR }

# import { a, b as c } from './other.js';
/^import \{/ && !lean_depth {
    if (!/^import \{ [^}]* \} from '\.\/[a-z-]+\.js';$/)
        fail(here, "this is to be one line: import { a, b as c } from './file.js';")
    split($0, part, /[{}]| '\.\/|';/)
    needs[file] = needs[file] " " part[4]
    n = split(part[2], list, /[ ,]+/)
    for (i = 2; i < n; i++) {
        if (list[i] == "as") i++
        else wanted[here] = wanted[here] " " part[4] "/" list[i]
    }
    gsub(/ as /, ":", part[2])
    gsub(/ /, "", part[2])
    code[file, FNR] = "const{" part[2] "}=" variable(part[4]) ";"
    lines[file] = FNR
    next
}

/^export / && !lean_depth {
    if (!match($0, /^export (const|function|class|async function) /))
        fail(here, "a const, a function or a class is exported where it is made")
    name = substr($0, RLENGTH + 1)
    sub(/[^A-Za-z0-9_].*/, "", name)
    gives[file] = gives[file] "," name
    given[file "/" name] = 1
    sub(/^export /, "")
}

/^import[^(]/ && !lean_depth { fail(here, "an import says what it takes, and is one line") }

/^(const [^=]*= )?await / && !lean_depth { waits[file] }

{
    if (lean_depth) within[file, FNR] # an empty line is one there, too
    code[file, FNR] = lean($0)
    lines[file] = FNR
    if (lean_wrong) fail(here, lean_wrong)
}

# ---- arranging

END {
    if (!failed && lean_depth) fail(file, "a text has no end")
    for (here in wanted) is_given(here, wanted[here])
    for (i = 1; i <= count && !failed; i++) arrange(bundles[i])
    for (i = 1; i <= count && !failed; i++) write(bundles[i])
    if (failed) exit 1
}

function is_given(here, names,    list, i, n) {
    n = split(names, list, " ")
    for (i = 1; i <= n; i++) if (!(list[i] in given)) fail(here, "there is no " list[i])
}

# Puts a file into the order of its bundle, behind those that it needs; those of other bundles are on a list.
function place(file,    list, i, n, other) {
    if (state[file] == "placed") return
    if (state[file] == "begun") fail(file, "it needs itself, by way of those that it needs")
    state[file] = "begun"
    n = split(needs[file], list, " ")
    for (i = 1; i <= n; i++) {
        other = home[list[i]]
        if (other == bundle) {
            place(list[i])
        } else if (!(other in arranged)) {
            fail(file, "it needs " list[i] ", which is in no bundle before its own")
        } else if (!((bundle, list[i]) in asked)) {
            asked[bundle, list[i]]
            handed[list[i]]
            foreign[bundle, other] = foreign[bundle, other] "," variable(list[i])
        }
    }
    state[file] = "placed"
    order[bundle, ++placed[bundle]] = file
}

function arrange(name,    i) {
    bundle = name
    for (i = begin[bundle]; i <= end[bundle]; i++) if (all[i] != bundle) place(all[i])
    if (home[bundle] == bundle) place(bundle)
    arranged[bundle]
}

# ---- writing

# A line of the bundle. The map has its way from the line before to this: 4 numbers, of which the first and the last
# are columns.
function line(words, source, number) {
    print words >out
    if (source) {
        map = map "A" digits(source - last_source) digits(number - last_number) "A"
        last_source = source
        last_number = number
    }
    map = map ";"
}

# A number in base 64: 5 bits a digit, the lowest first; its sign is the lowest bit, and more follow where the highest
# is set.
function digits(n,    text, digit) {
    n = n < 0 ? -2 * n + 1 : 2 * n
    do {
        digit = n % 32
        n = (n - digit) / 32
        text = text substr(DIGITS, digit + (n ? 32 : 0) + 1, 1)
    } while (n)
    return text
}

# source: which one of the map this file is.
function body(file, source,    i) {
    line("const " variable(file) "=" (file in waits ? "await(async()=>{" : "(()=>{"))
    for (i = 1; i <= lines[file]; i++)
        if (code[file, i] != "" || (file, i) in within) line(code[file, i], source, i)
    line("return{" substr(gives[file], 2) "}})();")
}

# Exports what a file does. No name but those with a $ is made outside of the functions, where it would hide the
# browser's own from all of them.
function hand_on(file,    list, i, n, exports) {
    n = split(substr(gives[file], 2), list, ",")
    for (i = 1; i <= n; i++) {
        line("const $$" list[i] "=" variable(file) "." list[i] ";")
        exports = exports ",$$" list[i] " as " list[i]
    }
    return exports
}

function write(name,    i, file, exports, sources) {
    bundle = name
    out = to "/" bundle
    map = ""
    last_source = last_number = 1 # the map counts both from 0
    for (i = 1; i <= count; i++)
        if ((bundle, bundles[i]) in foreign) line("import{" substr(foreign[bundle, bundles[i]], 2) "}from'./" bundles[i] "';")
    for (i = 1; i <= placed[bundle]; i++) {
        file = order[bundle, i]
        body(file, i)
        if (file in handed) exports = exports "," variable(file)
        sources = sources ",\"" file "\""
    }
    if (home[bundle] == bundle) exports = exports hand_on(bundle)
    line("export{" substr(exports, 2) "};")
    line("//# sourceMappingURL=" bundle ".map")
    close(out)
    print "{\"version\":3,\"sources\":[" substr(sources, 2) "],\"names\":[],\"mappings\":\"" map "\"}" >(out ".map")
    close(out ".map")
}
