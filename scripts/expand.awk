# expand.awk: checks scripts/*.lua, and makes complete scripts for Redis and C from them.
#
#   LC_ALL=C awk -v keys=lib/redis/key.h -v bounds="lib/job/document.h …" -v inc=scripts/inc \
#       -v lua=DIR [-v c=FILE] [-v h=FILE] [-v told=FILE] -f scripts/expand.awk SCRIPT.lua...
#
# Writes DIR/NAME.lua (installed, and carried by the clients) and, if they are named, FILE.c (the texts
# without comments) and FILE.h (their names).
# Each fault is reported as FILE:LINE: what is wrong; the remedy. Then nothing is written, status 1.
#
# A script begins with its contract, in this order; more lines of KEYS or ARGV add to the first:
#   -- NAME: a sentence            NAME is the file's
#   -- KEYS   ready stats          names from `enum later_key` in lib/redis/key.h, or call, claims,
#                                  fence, fresh, held, history, limit, line_due, line_waiting, lock,
#                                  flow, lock_wake, lookers, result, running, stock, unknown, values,
#                                  failed. `(wakes)...` at the end: 0 or more keys, a list of that
#                                  name, nil if there are none
#   -- ARGV   token (id score)...  each argument by name; the group in parentheses repeats, 0 or
#                                  more times; `none` for no arguments
#   -- reply  words                and then free comment lines
# After the contract the expanded script gets code for it: a check of how many KEYS and ARGV there
# are, and a local for each key and each argument that is not in the group. `-- @include NAME`,
# alone on a line, is replaced by inc/NAME.lua; within a script only the first of equal ones counts.
# `-- @inside NAME` is for the body of a function: what it brings in is known there only.
# A whole number that `bounds` defines may be written by its name there, also in comments: LATER_….
# `-- @told` says that the script ends jobs: with -v told=FILE, C also has what that puts around it
# (see there), and the SHA-1 of the whole.
#
# The checks split Lua into words and signs; they do not parse it.

BEGIN {
    words_of(global, "assert error ipairs math next pairs pcall redis select string table " \
                     "tonumber tostring type unpack")
    words_of(reserved_word, "and break do else elseif end false for function goto if in local " \
                            "nil not or repeat return then true until while")
    known_keys(keys)
    known_bounds(bounds)
    sort_scripts()
    for (s = 1; s <= scripts; s++)
        script(path[s])
    around()
    if (faults)
        exit 1
    for (s = 1; s <= scripts; s++)
        write_lua(s)
    if (c)
        write_c()
    if (h)
        write_h()
}

# ---- faults and files

function fault(file, line, what, remedy,    text) {
    text = file ":" line ": " what "; " remedy
    if (!(text in reported))
        print text > "/dev/stderr"
    reported[text] = 1
    faults++
}

function base(file) {
    sub(/^.*\//, "", file)
    sub(/\.lua$/, "", file)
    return file
}

# Reads a file into line[file, 1 … lines[file]], once.
function load(file,    text, status) {
    if (file in lines)
        return 1
    lines[file] = 0
    while ((status = (getline text < file)) > 0)
        line[file, ++lines[file]] = bounded(file, text)
    close(file)
    if (status < 0)
        delete lines[file]
    return status == 0
}

function words_of(set, list,    word, n) {
    for (n = split(list, word, " "); n > 0; n--)
        set[word[n]] = 1
}

# The kinds of keys: enum later_key without its COUNT, and those outside it, which are -1 in C.
function known_keys(file,    text, within) {
    key["call"] = key["claims"] = key["fence"] = key["fresh"] = key["held"] = key["history"] = "-1"
    key["limit"] = key["lock"] = key["lock_wake"] = key["running"] = key["stock"] = "-1"
    key["result"] = key["flow"] = key["unknown"] = key["line_waiting"] = key["line_due"] = "-1"
    key["values"] = key["failed"] = key["lookers"] = "-1"
    while ((getline text < file) > 0) {
        if (text ~ /^enum later_key \{/)
            within = 1
        else if (text ~ /^\}/)
            within = 0
        else if (within && match(text, /LATER_KEY_[A-Z]+/))
            key[tolower(substr(text, RSTART + 10, RLENGTH - 10))] = substr(text, RSTART, RLENGTH)
    }
    close(file)
    delete key["count"]
    if (!("ready" in key))
        fault(file, 1, "no `enum later_key {` here", "give its file with -v keys=")
}

function known_bounds(files,    file, n, text, word) {
    for (n = split(files, file, " "); n > 0; n--) {
        while ((getline text < file[n]) > 0)
            if (text ~ /^#define LATER_[A-Z_]+ +[0-9]+( |$)/) {
                split(text, word, " ")
                bound[word[2]] = word[3]
            }
        close(file[n])
    }
}

# Writes the numbers for the names of bounds.
function bounded(file, text,    before, name) {
    while (match(text, /LATER_[A-Z_]+/)) {
        name = substr(text, RSTART, RLENGTH)
        if (!(name in bound))
            fault(file, lines[file], "`" name "` is no bound", "name a number of -v bounds=" bounds)
        before = before substr(text, 1, RSTART - 1) bound[name]
        text = substr(text, RSTART + RLENGTH)
    }
    return before text
}

# Fills path[1 … scripts], sorted by name: the order of enum later_script.
function sort_scripts(    i, j) {
    for (i = 1; i < ARGC; i++) {
        for (j = scripts++; j > 0 && base(path[j]) > base(ARGV[i]); j--)
            path[j + 1] = path[j]
        path[j + 1] = ARGV[i]
    }
}

# ---- one script

function script(file,    first) {
    name = base(file)
    text_lines = tokens = braces = key_count = arg_count = group_count = 0
    split("", declared)
    split("", included)
    split("", used)
    if (!load(file)) {
        fault(file, 1, "cannot be read", "take it off the list of scripts, or make it")
        return
    }
    if (name !~ /^[a-z][a-z0-9_]*$/)
        fault(file, 1, "no name for a script", "use lower case letters, digits and _")
    first = head(file)
    prologue(file)
    body(file, first)
    check_names(file)
    if (calls_of_time > 1)
        fault(file, time_line, "TIME is read more than once", "read it once, by `-- @include now`")
}

# Reads the contract; returns the first line behind it.
function head(file,    n) {
    calls_of_time = 0
    n = 1
    if (index(line[file, n], "-- " name ": ") == 1 && length(line[file, n]) > length(name) + 5)
        sentence[name] = substr(line[file, n++], length(name) + 6)
    else
        fault(file, n, "the first line does not say what the script does",
              "write `-- " name ": ` and a sentence")
    key_words = field(file, "KEYS")
    read_keys(file)
    arg_words = field(file, "ARGV")
    read_args(file)
    field(file, "reply")
    for (n = 1; n <= lines[file] && line[file, n] ~ /^--/ && line[file, n] !~ /^-- @/; n++)
        emit(file, n, line[file, n])
    return n
}

# Returns the value of a field of the contract, and sets field_line to its last line. The fields
# must be in order, so each is looked for after the one before.
function field(file, word,    n, value) {
    if (word == "KEYS")
        field_line = 1
    n = field_line + 1
    if (line[file, n] !~ "^-- " word "   *[^ ]") {
        fault(file, n, "`-- " word "` is not here", "write -- NAME:, KEYS, ARGV, reply in this order")
        return ""
    }
    for (; line[file, n] ~ "^-- " word "   *[^ ]"; n++) {
        value = value " " substr(line[file, n], length(word) + 4)
        field_line = n
    }
    gsub(/  */, " ", value)
    sub(/^ /, "", value)
    sub(/ $/, "", value)
    return value
}

function read_keys(file,    words, i) {
    words = key_words
    key_list = ""
    if (match(words, / \([a-z]+\)\.\.\.$/)) {
        key_list = substr(words, RSTART + 2, RLENGTH - 6)
        words = substr(words, 1, RSTART - 1)
        declare_head(file, key_list)
    }
    key_count = split(words, key_name, " ")
    for (i = 1; i <= key_count; i++) {
        if (!(key_name[i] in key))
            fault(file, field_line, "unknown key `" key_name[i] "`",
                  "name one of enum later_key in lib/redis/key.h, or of known_keys() here")
        declare_head(file, key_name[i])
        row_keys[name] = row_keys[name] (i > 1 ? ", " : "") \
            (key[key_name[i]] == "-1" ? "-1 /* " key_name[i] " */" : key[key_name[i]])
    }
    if (key_count > 16)
        fault(file, field_line, "more than 16 keys", "widen `keys` in lib/redis/script.h and this check")
    row_count[name] = key_count
}

function read_args(file,    words, group, i) {
    words = arg_words
    if (match(words, /\([^()]*\) *\.\.\.$/)) {
        group = substr(words, RSTART + 1)
        words = substr(words, 1, RSTART - 1)
        sub(/\).*/, "", group)
        group_count = split(group, arg_name, " ")
        for (i = 1; i <= group_count; i++)
            check_name(file, arg_name[i])
        if (!group_count)
            fault(file, field_line, "an empty group", "name what repeats: `(id score)...`")
    }
    arg_count = words == "none" ? 0 : split(words, arg_name, " ")
    if (!arg_count && !group_count && words != "none" && words != "")
        fault(file, field_line, "no arguments", "write `none` where there are none")
    for (i = 1; i <= arg_count; i++)
        if (check_name(file, arg_name[i]))
            declare_head(file, arg_name[i])
    row_args[name] = arg_count
    row_group[name] = group_count
}

function check_name(file, word) {
    if (word ~ /^[a-z][a-z0-9_]*$/ && !(word in reserved_word))
        return 1
    fault(file, field_line, "`" word "` cannot name an argument",
          "write names like in Lua; a group that repeats, in parentheses, is the last: `(id)...`")
    return 0
}

function declare_head(file, word) {
    if (word in declared)
        fault(file, field_line, "`" word "` stands twice in the head", "give each its own name")
    declared[word] = field_line
}

# Emits the first code of each script: the check of how it is called, and the names of what it got.
function prologue(file,    wrong, i, list) {
    emit("", 0, "")
    emit("", 0, "-- From its head, by scripts/expand.awk:")
    wrong = "#KEYS " (key_list ? "<" : "~=") " " key_count
    if (group_count == 0)
        wrong = wrong " or #ARGV ~= " arg_count
    else if (arg_count > 0)
        wrong = wrong " or #ARGV < " arg_count
    if (group_count > 1)
        wrong = wrong " or " (arg_count ? "(#ARGV - " arg_count ")" : "#ARGV") " % " group_count " ~= 0"
    emit("", 0, "if " wrong " then")
    emit("", 0, "    return redis.error_reply('ERR usage: " name ": KEYS " key_words " ARGV " \
         arg_words "')")
    emit("", 0, "end")
    for (i = 1; i <= key_count; i++)
        list = list (i > 1 ? ", " : "") key_name[i]
    if (list != "")
        emit("", 0, "local " list " = unpack(KEYS)")
    if (key_list)
        emit("", 0, "local " key_list " = KEYS[" key_count + 1 "] and { unpack(KEYS, " key_count + 1 ") }")
    list = ""
    for (i = 1; i <= arg_count; i++)
        list = list (i > 1 ? ", " : "") arg_name[i]
    if (list != "")
        emit("", 0, "local " list " = unpack(ARGV, 1, " arg_count ")")
}

# Emits a file from line n on, with what it includes.
function body(file, n,    part) {
    for (; n <= lines[file]; n++) {
        if (line[file, n] ~ /^-- *@/) {
            part = line[file, n]
            if (sub(/^-- @inside /, "", part))
                inside(file, n, part)
            else if (part == "-- @told")
                is_told[name] = 1
            else {
                sub(/^-- @include /, "", part)
                include(file, n, part)
            }
        } else {
            check_line(file, n, line[file, n])
            emit(file, n, line[file, n])
        }
    }
}

function include(file, n, part,    target) {
    target = inc "/" part ".lua"
    if (part !~ /^[a-z][a-z0-9_]*$/)
        fault(file, n, "no include", "write `-- @include NAME`, alone on the line")
    else if (target in included) {
        if (included[target] == "open")
            fault(file, n, "`" part "` includes itself", "break the circle")
    } else if (!load(target)) {
        fault(file, n, "there is no " target, "name a file of scripts/inc without its .lua")
    } else {
        included[target] = "open"
        body(target, 1)
        included[target] = "done"
    }
}

# The same, and then forgets what was included meanwhile.
function inside(file, n, part,    before, target) {
    for (target in included)
        before[target] = included[target]
    include(file, n, part)
    for (target in included)
        if (!(target in before))
            delete included[target]
}

# ---- what is put around those that end jobs

# The short text of `told` before and after its line `-- @script`.
function around(    n) {
    if (told == "")
        return
    if (!load(told))
        fault(told, 1, "cannot be read", "give the file of what is put around with -v told=")
    name = "before"
    for (n = 1; n <= lines[told]; n++) {
        check_line(told, n, line[told, n])
        if (line[told, n] == "-- @script")
            name = "after"
        else
            emit(told, n, line[told, n])
    }
    if (name != "after")
        fault(told, 1, "no line `-- @script`", "say where the script comes")
}

# ---- lines

# Adds a line to the script: as it is, and without its comment for C. Lines from a file (file is not
# "") are split into words for the checks of names.
function emit(file, n, text,    kept) {
    full[name, ++text_lines] = text
    full_lines[name] = text_lines
    cut(file, n, text)
    kept = code
    sub(/^ +/, "", kept)
    if (kept != "")
        short[name, ++short_lines[name]] = kept
    if (file != "")
        tokenise(file, n)
}

function check_line(file, n, text,    columns) {
    columns = text
    gsub(/[\200-\277]/, "", columns) # UTF-8: count a character once
    if (length(columns) > 100)
        fault(file, n, "longer than 100 columns", "break the line")
    if (text ~ /\t/)
        fault(file, n, "a tab", "indent with spaces")
}

# Cuts the comment off a line: `code` keeps its strings, `bare` has them emptied.
function cut(file, n, text,    i, ch, quote) {
    code = bare = ""
    for (i = 1; i <= length(text); i++) {
        ch = substr(text, i, 1)
        if (quote == "" && ch == "-" && substr(text, i, 2) == "--")
            break
        code = code ch
        if (quote == "") {
            bare = bare ch
            quote = ch == "'" || ch == "\"" ? ch : ""
        } else if (ch == "\\") {
            code = code substr(text, ++i, 1)
        } else if (ch == quote) {
            bare = bare ch
            quote = ""
        }
    }
    sub(/ +$/, "", code)
    if (quote != "")
        fault(file, n, "a string does not end on its line", "end it, or write \\n")
    if (bare ~ /\[=*\[/ || substr(text, i) ~ /^--\[=*\[/)
        fault(file, n, "a long string or long comment", "use quotes, or -- on each line")
}

# Adds the words and signs of `bare` to token[1 … tokens], and checks what one line can show.
function tokenise(file, n,    rest, times) {
    rest = code
    times = gsub(/redis\.p?call\( *['"][Tt][Ii][Mm][Ee]['"]/, "", rest)
    if (times > 0) {
        calls_of_time += times
        time_line = n
    }
    if (code ~ /redis\.p?call\( *['"][Kk][Ee][Yy][Ss]['"]/)
        fault(file, n, "KEYS searches the whole of Redis", "name the key in the head instead")
    rest = bare
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9A-Za-z.]*|\.\.\.?|[=~<>]=|[^ ]/)) {
        token[++tokens] = substr(rest, RSTART, RLENGTH)
        token_file[tokens] = file
        token_line[tokens] = n
        rest = substr(rest, RSTART + RLENGTH)
    }
}

# ---- names

function is_name(t) {
    return t ~ /^[A-Za-z_]/ && !(t in reserved_word)
}

# First collects what is declared, then reports what is used or assigned without being declared.
function check_names(file,    t, i) {
    token[0] = token[tokens + 1] = ""
    for (t = 1; t <= tokens; t++)
        if (token[t] == "local" || token[t] == "for")
            declare_list(token[t + 1] == "function" ? t + 2 : t + 1)
        else if (token[t] == "function")
            declare_function(t)
    for (t = 1; t <= tokens; t++) {
        braces += (token[t] == "{") - (token[t] == "}")
        if (is_name(token[t]) && token[t - 1] != "." && token[t - 1] != ":")
            check_use(t)
    }
    for (i = 1; i <= key_count; i++)
        must_use(file, key_name[i], "key")
    for (i = 1; i <= arg_count; i++)
        must_use(file, arg_name[i], "argument")
}

function declare_list(t) {
    for (; is_name(token[t]); t += 2) {
        if (!(token[t] in declared))
            declared[token[t]] = 0
        if (token[t + 1] != ",")
            break
    }
}

function declare_function(t) {
    if (is_name(token[t + 1]) && token[t + 2] == "(" && token[t - 1] != "local")
        fault(token_file[t], token_line[t], "function " token[t + 1] " is global",
              "write `local function`")
    while (token[t] != "(" && t <= tokens)
        t++
    declare_list(t + 1)
}

function check_use(t,    word) {
    word = token[t]
    if (word == "KEYS")
        fault(token_file[t], token_line[t], "KEYS in the body", "use the names from the head")
    else if (word == "cjson" || word == "cmsgpack")
        fault(token_file[t], token_line[t], word " changes what it decodes",
              "hand the bytes on, or take what is needed as an argument")
    else if (word == "ARGV") {
        if (group_count == 0)
            fault(token_file[t], token_line[t], "ARGV in the body of a script without a group",
                  "use the names from the head")
    } else if (token[t + 1] == "=" && braces > 0)
        return
    else if (!(word in declared) && !(word in global))
        fault(token_file[t], token_line[t], "`" word "` is declared nowhere (in " name ")",
              "add it to KEYS or ARGV in the head of " name ".lua, or write `local`")
    else if (token[t + 1] == "=" && !(word in declared))
        fault(token_file[t], token_line[t], "`" word "` is Lua's own", "choose another name")
    else if (token[t + 1] != "=" && token[t - 1] != "local")
        used[word] = 1
}

function must_use(file, word, kind) {
    if (!(word in used) && (word in declared))
        fault(file, declared[word], "the " kind " `" word "` is not used", "take it out of the head")
}

# ---- results

function write_lua(s,    file, i) {
    name = base(path[s])
    file = lua "/" name ".lua"
    for (i = 1; i <= full_lines[name]; i++)
        print full[name, i] > file
    close(file)
}

# Sends the short text of a part to a command.
function pour(part, command,    i) {
    for (i = 1; i <= short_lines[part]; i++)
        print short[part, i] | command
}

# The SHA-1 of the short text of the script `name`, by which Redis knows it; or of that with what is
# put around it.
function sha(whole,    command, result) {
    command = "sha1sum > " c ".sha"
    if (whole)
        pour("before", command)
    pour(name, command)
    if (whole)
        pour("after", command)
    close(command)
    getline result < (c ".sha")
    close(c ".sha")
    if (!match(result, /^[0-9a-f]+/) || RLENGTH != 40) {
        fault(c, 1, "no SHA-1 of " name, "install sha1sum (coreutils)")
        exit 1
    }
    return substr(result, 1, 40)
}

function write_text(part,    i, text) {
    print "static const char text_" part "[] =" > c
    for (i = 1; i <= short_lines[part]; i++) {
        text = short[part, i]
        gsub(/\\/, "&&", text)
        gsub(/"/, "\\\\&", text)
        print "    \"" text "\\n\"" (i == short_lines[part] ? ";\n" : "") > c
    }
}

function write_c(    s) {
    print "/* Made by scripts/expand.awk from scripts/; see there. */" > c
    print "#include \"redis/script.h\"\n" > c
    for (s = 1; s <= scripts; s++)
        write_text(base(path[s]))
    print "const struct later_script_text later_script_texts[] = {" > c
    for (s = 1; s <= scripts; s++) {
        name = base(path[s])
        print "    { \"" name "\", text_" name ", sizeof(text_" name ") - 1, \"" sha(0) "\", " \
            row_count[name] ", { " row_keys[name] " }, " row_args[name] ", " row_group[name] ", " \
            (told != "" && name in is_told ? "\"" sha(1) "\"" : "NULL") " }," > c
    }
    print "};" > c
    if (told != "") {
        write_text("before")
        write_text("after")
        print "const struct later_script_around later_script_told = { text_before, " \
            "sizeof(text_before) - 1, text_after, sizeof(text_after) - 1 };" > c
    }
    close(c)
}

function write_h(    s) {
    print "/* Made by scripts/expand.awk from the heads of scripts/; see there. */" > h
    print "#ifndef LATER_SCRIPT_NAMES_H\n#define LATER_SCRIPT_NAMES_H\n\nenum later_script {" > h
    for (s = 1; s <= scripts; s++)
        print "    LATER_SCRIPT_" toupper(base(path[s])) ", /* " sentence[base(path[s])] " */" > h
    print "    LATER_SCRIPT_COUNT\n};\n\n/* How many keys each has that are not of a queue. */" > h
    for (s = 1; s <= scripts; s++)
        print "#define LATER_SCRIPT_" toupper(base(path[s])) "_OTHERS " \
            gsub(/-1/, "", row_keys[base(path[s])]) > h
    print "\n#endif" > h
    close(h)
}
