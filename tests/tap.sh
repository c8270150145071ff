# tap.sh: what test scripts share. Use: . "${top_srcdir:=.}/tests/tap.sh"
# shellcheck shell=sh
# Results are TAP. The plan comes last, so that a script that dies has none and fails. make sets
# top_srcdir and top_builddir. By hand a script runs from the top of a built tree.

: "${top_builddir:=$top_srcdir}" "${AWK:=awk}"
tap_number=0

# ok NAME: passed. not_ok NAME [FILE]: failed; FILE's lines say why.
ok()
{
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1"
}

not_ok()
{
    tap_number=$((tap_number + 1))
    echo "not ok $tap_number - $1"
    [ $# -lt 2 ] || sed 's/^/# /' "$2"
}

# missing NAME WHY: reports what this machine cannot try.
missing()
{
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

# is GOT WANTED NAME
is()
{
    if [ "$1" = "$2" ]; then
        ok "$3"
    else
        not_ok "$3"
        printf 'got:    %s\nwanted: %s\n' "$1" "$2" | sed 's/^/# /'
    fi
}

# contains TEXT PART NAME
contains()
{
    case $1 in
    *"$2"*) ok "$3" ;;
    *)
        not_ok "$3"
        printf 'got:    %s\nwanted: … %s …\n' "$1" "$2" | sed 's/^/# /'
        ;;
    esac
}

# runs NAME COMMAND...: passes if the command succeeds, otherwise shows its output.
runs()
{
    tap_name=$1
    shift
    tap_output=$(mktemp)
    if "$@" >"$tap_output" 2>&1; then
        ok "$tap_name"
    else
        not_ok "$tap_name" "$tap_output"
    fi
    rm -f "$tap_output"
}

# needs PROGRAM...: skips the whole script if one is missing (.ci/run counts that as a failure).
needs()
{
    for tap_program in "$@"; do
        if ! command -v "$tap_program" >/dev/null 2>&1; then
            echo "1..0 # SKIP $tap_program is not installed"
            exit 0
        fi
    done
}

# Every script ends with this.
finish()
{
    echo "1..$tap_number"
}
