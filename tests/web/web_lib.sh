# web_lib.sh: what the tests of later-web share, on top of lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2034

web_bin=$(cd "$top_builddir" && pwd)/web/later-web
web_count=0

# start_web OPTION...: starts a later-web and waits until it listens. $web_where is unix:PATH or
# HOST:PORT, $web_log its output, $web_pid its process.
start_web()
{
    export LATER_REDIS_URL
    web_count=$((web_count + 1))
    web_log=$work/web$web_count.log
    "$web_bin" "$@" </dev/null >"$work/web.out" 2>"$web_log" &
    web_pid=$!
    own "$web_pid"
    wait_until 10 grep -q 'listening' "$web_log" || not_ok "later-web does not start" "$web_log"
    web_where=$(sed -n 's|.*listening[: on]* \(http://\)*\([^ /]*[^ #]*\).*|\2|p' "$web_log")
    web_where=${web_where%/}
}

# make_tokens: a file in $work with a token for each role, 0123456789abcdef-ROLE.
make_tokens()
{
    for role in admin operator reader; do
        (umask 077; echo "0123456789abcdef-$role" >"$work/$role")
    done
}

# start_web_roles OPTION...: one over TCP, for those who have such a token.
start_web_roles()
{
    make_tokens
    start_web --listen 127.0.0.1:0 --token-file "$work/admin" --operator-token-file "$work/operator" \
        --reader-token-file "$work/reader" "$@"
}

stop_web()
{
    kill "$web_pid"
    wait "$web_pid"
}

# find_axe: $axe is the file of axe-core, of a fixed version, from $WEB_NPM if it is there; or -.
find_axe()
{
    npm=${WEB_NPM:-$work/npm}
    axe=$npm/node_modules/axe-core/axe.min.js
    if ! [ -e "$axe" ]; then
        mkdir -p "$npm"
        npm install --prefix "$npm" --no-audit --no-fund --ignore-scripts --silent axe-core@4.14.1 \
            >"$work/npm.log" 2>&1 </dev/null || sed 's/^/# /' "$work/npm.log"
    fi
    runs "axe-core is there" test -e "$axe"
    [ -e "$axe" ] || axe=-
}
