# lean.awk: what a browser gets of a line of a script: without comments, and without the blanks that only people
# need. A text stays as it is, also one that spans lines.

# Behind a value, a / divides; elsewhere a pattern begins with it.
function lean_is_value(before) {
    return before ~ /[])A-Za-z0-9_$}'"`]$/ && before !~ /(^|[^A-Za-z0-9_$.])(return|typeof|case|of|in)$/
}

# Returns how long the token is with which code begins; sets lean_wrong if it has no end.
function lean_token(code, before) {
    if (match(code, /^[A-Za-z0-9_$]+/)) return RLENGTH
    if (match(code, /^'([^'\\]|\\.)*'/) || match(code, /^"([^"\\]|\\.)*"/)) return RLENGTH
    if (code ~ /^['"]/) lean_wrong = "a text in quotes does not span lines"
    if (code ~ /^\/\*/) lean_wrong = "comments begin with //"
    if (code ~ /^\// && !lean_is_value(before) &&
        match(code, /^\/([^\/\\[]|\\.|\[([^]\\]|\\.)*\])+\/[a-z]*/)) return RLENGTH
    return 1
}

# Returns how long the piece is with which the rest of a text begins: its end, the begin of code, or what is
# between these.
function lean_piece(rest) {
    if (rest ~ /^\$\{/) return 2
    return match(rest, /^([^`\\$]|\\.|\\$)+/) ? RLENGTH : 1
}

# Two tokens that would be one need the blank between them.
function lean_apart(before, token) {
    return before ~ /[A-Za-z0-9_$]$/ && token ~ /^[A-Za-z0-9_$]/ || before ~ /[-+\/]$/ && token ~ /^[-+\/]/
}

# lean_depth: within how many texts the end of this line is; lean_open: how many braces are open in the code of
# each of these, 0: it is no code.
function lean(line,    out, token, blank) {
    lean_wrong = out = ""
    while (line != "") {
        if (lean_depth && !lean_open[lean_depth]) {
            token = substr(line, 1, lean_piece(line))
            if (token == "${") lean_open[lean_depth] = 1
            else if (token == "`") lean_depth--
        } else if (match(line, /^ +/)) {
            line = substr(line, RLENGTH + 1)
            blank = 1
            continue
        } else if (line ~ /^\/\//) {
            break
        } else {
            token = substr(line, 1, lean_token(line, out))
            if (token == "`") lean_open[++lean_depth] = 0
            else if (lean_depth && token ~ /^[{}]$/) lean_open[lean_depth] += token == "{" ? 1 : -1
            if (blank && lean_apart(out, token)) out = out " "
        }
        blank = 0
        out = out token
        line = substr(line, length(token) + 1)
    }
    return out
}
