#!/bin/sh
# later-web: what a reader, an operator and an admin may do, by token, by group, by a proxy's header.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3
start_redis 'appendonly no'

start_web_roles --mask password --mask card
later push t '{"to":"ann","password":"s3cret","cards":[{"card":{"no":"s3cret"}}],"raw":"{\"password\":\"s3cret\"}"}' -q secret --id masked >/dev/null
later push t '{"password":"s3cret"}' -q secret --id died >/dev/null
later bury died -q secret --error "a reason" >/dev/null
redis ZADD 'later:{secret}:done' 9999999999 gave >/dev/null
redis HSET 'later:{secret}:kept' gave "$(printf 'k={"at":1700000000.5,"attempt":1,"ms":1}\n\n{"type":"t","id":"gave"}')" >/dev/null
redis LPUSH 'later:{secret}:result:gave' "$(printf '{"state":"done","attempt":1,"at":1700000000.5}\n{"to":"ann","password":"s3cret"}')" >/dev/null
tcp=$web_where tcp_log=$web_log
start_web --listen "unix:$work/web.sock" --role-header X-Role --user-header X-User
python_tests web/web_roles.py "$tcp" "$web_where"
like "$(cat "$tcp_log")" 'bearer of the operator token: later kick' "the log says who acts"
is "$(grep -c 0123456789abcdef "$tcp_log")" 0 "and no token"
like "$(cat "$web_log")" 'ann \(user [0-9]+\): later pause mail: status 0' "or whom the proxy names"

run "$web_bin" --listen "unix:$work/none.sock" --operators no-such-group
like "$status $err" '^78 .*there is no group no-such-group' "a group that is not there"
# Who may do what over a socket: root, in a group of operators, in none.
if [ "$(id -u)" = 0 ] && getent group users nogroup >/dev/null && command -v setpriv curl >/dev/null; then
    chmod 755 "$work"
    start_web --listen "unix:$work/groups.sock" --operators users
    chmod 666 "$work/groups.sock"
    # role_in GROUP: what somebody of this group is.
    role_in()
    {
        setpriv --reuid 12345 --regid "$1" --clear-groups curl -s --unix-socket "$work/groups.sock" http://localhost/api/1/me | field role
    }
    is "$(curl -s --unix-socket "$work/groups.sock" http://localhost/api/1/me | field role)" admin "root"
    is "$(role_in users)" operator "a member of the operators' group"
    is "$(role_in nogroup)" reader "somebody else"
fi
finish
