#!/bin/sh
# later completion: real shells complete commands, options, states and queues with what it prints.
. "${top_srcdir:=.}/tests/system/lib.sh"

needs bash zsh fish
start_redis
later push note -q mail >/dev/null
later push note -q maps >/dev/null
later push note -q other >/dev/null
for shell in bash zsh fish; do
    later completion "$shell" >"$work/$shell"
done

# What the shells run: this build's `later`, at this Redis.
mkdir "$work/bin"
cat >"$work/bin/later" <<RUN
#!/bin/sh
exec '$(cd "$top_builddir" && pwd)/cli/later' "\$@"
RUN
chmod +x "$work/bin/later"
PATH=$work/bin:$PATH
export LATER_REDIS_URL="${LATER_REDIS_URL:-unix:$work/redis.sock}"

# Each of these completes its arguments, the last of which is incomplete, and prints what there is to choose,
# sorted.
bash_completes()
{
    # shellcheck disable=SC2016 # bash's own
    bash -c '. "$1"; shift; COMP_WORDS=(later "$@"); COMP_CWORD=$#; _later; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$work/bash" "$@" | sort | tr '\n' ' '
}

# compadd, _describe and _files only work in the line editor. Here they print what they are given, and the
# beginning of the word chooses, as there.
zsh_completes()
{
    cat >"$work/try.zsh" <<'ZSH'
compdef() { }
compadd() { [[ $1 == -- ]] && shift; print -l -- "$@" }
_describe() { print -l -- ${${(P)2}%%:*} }
_files() { print files }
. "$1"
shift
words=(later "$@")
CURRENT=$(($# + 1))
PREFIX=$@[-1]
_later
ZSH
    for last in "$@"; do :; done
    zsh -f "$work/try.zsh" "$work/zsh" "$@" | grep -e "^$last" | sort | tr '\n' ' '
}

# fish has an engine for this. It adds a tab and the help.
fish_completes()
{
    XDG_CONFIG_HOME=$work HOME=$work fish --no-config -c ". $work/fish; complete -C 'later $*'" </dev/null |
        cut -f1 | sort | tr '\n' ' '
}

for shell in bash zsh fish; do
    is "$(${shell}_completes p)" "pause peek push " "$shell: commands"
    is "$(${shell}_completes help pu)" "push " "$shell: commands after help"
    is "$(${shell}_completes push --max)" "--max-attempts --max-wait " "$shell: options of a command"
    is "$(${shell}_completes kick --all)" "--all --all-queues " "$shell: options of acting on many jobs"
    is "$(${shell}_completes --js)" "--json " "$shell: options of every command, before the command"
    is "$(${shell}_completes push --js)" "--json " "$shell: and after it"
    is "$(${shell}_completes push -q ma)" "mail maps " "$shell: queues after -q"
    is "$(${shell}_completes size ma)" "mail maps " "$shell: queues as words"
    is "$(${shell}_completes peek --state d)" "dead delayed done " "$shell: states"
done

# All that the help names, each shell has.
options_of()
{
    later help "$1" | sed -nE 's/^ +(-[a-zA-Z], )?--([a-z-]+).*/\2/p'
}

# lines_of SHELL COMMAND: what SHELL has of it
lines_of()
{
    case $1 in
    bash) grep "^ *$2:-" "$work/bash" ;;
    zsh) sed -n "/^ *$2) queues=/,/) ;;/p" "$work/zsh" ;;
    fish) grep -E "from $2'|^complete -c later -l" "$work/fish" ;;
    esac
}

later help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' >"$work/commands"
is "$(grep -c . "$work/commands")" "$(grep -o '&command_[a-z]*' "$top_srcdir/cli/commands.c" | sort -u | grep -c .)" \
    "the help names all commands"
for shell in bash zsh fish; do
    while read -r command; do
        lines_of "$shell" "$command" >"$work/lines"
        for option in $(options_of "$command"); do
            grep -qE -- "(--|-l )$option([^a-z-]|\$)" "$work/lines" || echo "$command --$option"
        done
    done <"$work/commands" >"$work/missing"
    is "$(cat "$work/missing")" '' "$shell has all options of all commands"
done

later completion csh >"$work/out" 2>"$work/err"
is "$? $(head -n 1 "$work/err")" "64 later completion: csh: no shell that is known; bash, zsh and fish are" \
    "another shell is refused"
finish
