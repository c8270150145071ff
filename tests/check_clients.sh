#!/bin/sh
# The scripts that the clients carry are those of the tree, as clients/carry.sh puts them there: none of
# them is in the repository.
. "${top_srcdir:=.}/tests/tap.sh"

copies=$(find "$top_srcdir/clients" -name '*.lua' ! -path '*/build/*' | sort)
is "$(echo "$copies" | sed -n 's|.*/clients/\([a-z]*\)/.*/push_now.lua|\1|p' | tr '\n' ' ')" 'go node php python ruby ' \
    "each package has its scripts after make"
for script in $copies; do
    runs "${script#"$top_srcdir/"} is ${script##*/} of the tree" \
        cmp "$script" "$top_builddir/scripts/expanded/${script##*/}"
done
if git -C "$top_srcdir" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    is "$(git -C "$top_srcdir" ls-files clients | grep '\.lua$')" '' "no copy is in the repository"
fi

# A tree of its own, in which a word of a script is changed.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/clients"
cp -R "$top_srcdir/scripts" "$tree"
for header in "$top_srcdir"/lib/*/*.h; do # with the keys and bounds
    folder=$tree/lib/$(basename "$(dirname "$header")")
    mkdir -p "$folder" && cp "$header" "$folder"
done
cp "$top_srcdir/clients/carry.sh" "$tree/clients"
cp "$top_srcdir/LICENSE" "$top_srcdir/NEWS" "$tree"
printf '%s\n' '-- another word' >>"$tree/scripts/push.lua"
runs "carry.sh makes the copies of one package" sh "$tree/clients/carry.sh" node
is "$(cd "$tree/clients" && find . -name '*.lua' | sort | tr '\n' ' ')" \
    "$(printf './node/scripts/%s.lua ' cancel cron_look cron_move cron_put flow_join flow_park flow_push kick pause peek push push_now reschedule resume show size)" "a package has its scripts, others none"
is "$(tail -n 1 "$tree/clients/node/scripts/push.lua")" '-- another word' "a copy is what the script says now"
before=$(stat -c %i "$tree/clients/node/scripts/push.lua")
sh "$tree/clients/carry.sh" node
is "$(stat -c %i "$tree/clients/node/scripts/push.lua")" "$before" "a copy that is right is left alone"
echo 'nonsense' >"$tree/scripts/push.lua"
sh "$tree/clients/carry.sh" node 2>"$tree/error"
is "$?" 1 "carry.sh fails if a script is wrong"
sh "$tree/clients/carry.sh" cobol 2>"$tree/error"
is "$? $(cat "$tree/error")" '1 carry.sh: no package cobol: go, node, php, python, ruby' "an unknown package is refused"
rm -r "$tree/scripts"
runs "without laterd's sources carry.sh leaves the copies as they are" sh "$tree/clients/carry.sh"
finish
