#!/bin/sh
# Includes follow the layers in doc/architecture.md.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
out=$(mktemp)
includes=$(mktemp)
trap 'rm -f "$out" "$includes"' EXIT

# A line "FILE" for each file, and "FILE INCLUDED" for each include, with its brackets or quotes.
find lib daemon cli web jobs -name '*.[ch]' ! -name 'asset_table.c' | sort >"$includes"
xargs grep -HoE '^ *# *include *["<][^">]+[">]' <"$includes" | sed 's/: *# *include */ /' >"$out"
cat "$out" >>"$includes"

# A module is a name and every file that begins with it and _: config includes config_table.c. A
# module may use those of its own line and of the lines above. lib's lines are above daemon's. The
# second word of a line is the folder; - means none.
layers=$(sed -n '/^## Who may use whom/,/^## Processes/s/^    //p' doc/architecture.md)

# ask PROGRAM: writes what the awk program says about the includes to $out.
ask()
{
    printf '%s\n' "$layers" | awk '
        function room(file) { sub(/\/.*/, "", file); return file }
        function module(file) {
            if (sub(/^lib\/later\//, "later/", file)) return file
            sub(/.*\//, "", file)
            sub(/\.[ch]$/, "", file)
            while (!(file in level) && sub(/_[^_]*$/, "", file))
                ;
            return file
        }
        # The number of a line of $layers, by module.
        function layer(    i) {
            for (i = 3; i <= NF; i++) {
                level[$i] = NR
                folder[$i] = $1 ($2 == "-" ? "" : "/" $2)
            }
        }
        # The file that an include in quotes means: a path from lib, daemon or cli, or a file beside
        # a plugin.
        function meant(from, text) {
            text = substr(text, 2, length(text) - 2)
            if (from ~ /^jobs\// && sub(/[^\/]*$/, text, from) && from in file) return from
            if (("lib/" text) in file || text == "script_names.h") return "lib/" text
            if (("daemon/" text) in file) return "daemon/" text
            return (("web/" text) in file) ? "web/" text : "cli/" text
        }
        function bad(why) { print $1 ": includes " $2 ": " why }
        FILENAME == "-" { layer(); next }
        NF == 1 { file[$1] = 1; next }
        '"$1" - "$includes" >"$out"
}

# judge NAME PROGRAM: passes if the program prints nothing.
judge()
{
    ask "$2"
    runs "$1" test ! -s "$out"
    sed 's/^/# /' "$out"
}

judge "every module has its layer" '
    room($1) ~ /^(lib|daemon)$/ && $1 !~ /^lib\/later\// && !(module($1) in level) && !seen[$1]++ {
        print $1 ": no layer for it; give it one in doc/architecture.md"
    }'

judge "every module is in its folder" '
    NF == 1 && room($1) ~ /^(lib|daemon)$/ && $1 !~ /^lib\/later\// && (module($1) in level) {
        here = $1
        sub(/\/[^\/]*$/, "", here)
        if (here != folder[module($1)]) print $1 ": its place is " folder[module($1)] "/"
    }'

judge "each uses only its own layer and those before" '
    room($1) ~ /^(lib|daemon)$/ && $2 ~ /^"/ {
        target = meant($1, $2)
        if ((module(target) in level) && (module($1) in level) &&
            level[module(target)] > level[module($1)])
            bad("it stands in a later layer")
    }'

judge "lib knows no daemon, the command line only its health, a plugin neither; later-web no Redis" '
    $2 ~ /^"/ {
        target = meant($1, $2)
        if (room(target) != room($1) && !(room(target) == "lib" && $1 ~ /^(daemon|cli)\//) &&
            !(room($1) == "web" && target ~ /^(lib\/base\/.*|lib\/job\/json\.h|lib\/later\/error\.h|lib\/redis\/(address|password|tls)\.h|daemon\/log\.h|cli\/output\/jsonl\.h)$/) &&
            !(target ~ /^daemon\/health\.h$/ && room($1) == "cli"))
            bad("not from " room($1) "/")
    }
    room($1) == "jobs" && $2 ~ /^</ && $2 !~ /^<(later\/(job|job_json)\.h|jansson\.h|(arpa|curl|event2|netinet|sys)\/.*|[a-z0-9]+\.h)>$/ {
        bad("not for a plugin")
    }'

judge "others use only config.h of the configuration" '
    $2 ~ /^"/ && meant($1, $2) ~ /^lib\/config\// && meant($1, $2) != "lib/config/config.h" &&
        $1 !~ /^lib\/config\// { bad("only lib/config/ may") }'

judge "each library has one door" '
    $2 ~ /^<hiredis/ && $1 !~ /^lib\/redis\/(conn[a-z_]*|reply_make)\.[ch]$/ { bad("only lib/redis/conn* and lib/redis/reply_make may") }
    $2 ~ /^<openssl\// && $1 !~ /^lib\/redis\/tls[a-z_]*\.[ch]$/ { bad("only lib/redis/tls* may") }
    $2 ~ /^<jansson/ && $1 !~ /^(lib\/later\/job_json\.h|cli\/.*|web\/http\/params\.c|jobs\/.*)$/ {
        bad("only later/job_json.h, cli/, web/http/params.c and plugins may")
    }
    $2 ~ /^<event2\/http/ && $1 !~ /^web\/(http\/http|notify\/post)\.c$/ { bad("only web/http/http.c and web/notify/post.c may") }
    $2 ~ /^<curl\// && $1 !~ /^jobs\/http_curl\.h$/ { bad("only jobs/http_curl.h may") }
    $2 ~ /^<libconfig/ && $1 !~ /^lib\/config\/config[a-z_]*\.[ch]$/ { bad("only lib/config/*.c may") }
    $2 ~ /^<systemd/ && $1 !~ /^daemon\/notify\.c$/ { bad("only daemon/notify.c may") }'

# In all rooms, the files themselves say what a module is: a name and all files beside it that begin
# with it and _.
ask '
    function whole(path,    i, n, parts, head) {
        sub(/\.[ch]$/, "", path)
        n = split(path, parts, "_")
        head = parts[1]
        for (i = 2; i <= n && !((head ".c") in file || (head ".h") in file); i++)
            head = head "_" parts[i]
        return head
    }
    $2 ~ /^"/ {
        from = whole($1); to = whole(meant($1, $2))
        if (from != to) print from, to
    }'
runs "no circle of modules" tsort "$out"

# Two files may know each other, such as a module and its inner half; three may not.
ask '
    $2 ~ /^"/ {
        from = $1; to = meant($1, $2)
        sub(/\.[ch]$/, "", from); sub(/\.[ch]$/, "", to)
        if (from != to) uses[from, to] = from " " to
    }
    function head(file) {
        while (file in pair) file = pair[file]
        return file
    }
    END {
        for (use in uses) {
            split(uses[use], file, " ")
            if (file[1] < file[2] && (file[2] SUBSEP file[1]) in uses) {
                pairs[file[1]]++; pairs[file[2]]++
                pair[file[2]] = file[1]
                if (pairs[file[1]] > 1 || pairs[file[2]] > 1) print "three", file[1], file[1], "three"
            }
        }
        for (use in uses) {
            split(uses[use], file, " ")
            if (head(file[1]) != head(file[2])) print head(file[1]), head(file[2])
        }
    }'
runs "no circle of more than two files" tsort "$out"

# A static function that shares its bare name with another file's would be found twice by grep, and named
# without its place in a backtrace: it carries its file's word (reshard_configure, wait_until_ended).
shared() {
    grep -rHE '^[a-z][^;={(]*[ *][a-z_0-9]+\(' --include='*.c' lib daemon cli jobs web |
        sed -nE 's/^([^:]*):[^(]*[ *]([a-z_0-9]+)\(.*[^;]$/\2 \1/p' | sort -u |
        awk '$1 != "main" { files[$1] = files[$1] " " $2; count[$1]++ }
            END { for (name in count) if (count[name] > 1) print name files[name] }'
}
is "$(shared)" "" "a function's bare name leads to one file"
finish
