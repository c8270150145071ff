#!/bin/sh
# later-web's pages in Chromium. LATER_SOAK=1 checks accessibility in all four forms.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/system/web_lib.sh"
needs python3 chromium chromedriver npm
start_redis 'appendonly no'
export work

# axe-core of a fixed version; from $WEB_NPM if it is there.
npm=${WEB_NPM:-$work/npm}
axe=$npm/node_modules/axe-core/axe.min.js
if ! [ -e "$axe" ]; then
    mkdir -p "$npm"
    npm install --prefix "$npm" --no-audit --no-fund --ignore-scripts --silent axe-core@4.14.1 \
        >"$work/npm.log" 2>&1 </dev/null || sed 's/^/# /' "$work/npm.log"
fi
runs "axe-core is there" test -e "$axe"
[ -e "$axe" ] || axe=-

start_web --listen 127.0.0.1:0 --read-only
read_only=$(sed -n 's/.*listening: //p' "$web_log")
export read_only
start_web --listen 127.0.0.1:0
link=$(sed -n 's/.*listening: //p' "$web_log")
python_tests web_pages.py "$link" "$axe"
finish
