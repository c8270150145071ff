# model.sh: sourced by the tests of a model: translate, compile, search.
# shellcheck shell=sh
. "${top_srcdir:=.}/tests/tap.sh"
needs spin cc

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
models=$(cd "$top_srcdir/tests/faults/model" && pwd)
cd "$folder" || exit 1

# translate MODEL SWITCH...: pan.c, for the model with these switches
translate()
{
    cp "$models/$1.pml" . && model=$1 && shift && spin "$@" -a "$model.pml" >spin.log 2>&1
}

# compile HOW OPTION...: pan, from pan.c. Where few states are searched, as in the versions of a model that are
# broken, HOW is $small: gcc takes half a second for it even if it does not optimize, tcc a fiftieth.
# shellcheck disable=SC2034 # by the tests
large=-Og small=-O0 optimize=$large
compile()
{
    how=$1
    shift
    if [ "$how" = "$small" ] && command -v tcc >/dev/null; then
        tcc -w "$@" -o pan pan.c
    else
        cc -w "$how" "$@" -o pan pan.c
    fi
}

# search OPTION...: prints how many errors pan finds, or nothing if it could not search everything. Its table of
# states is in large pages where there are any: a sixth less time, in a virtual machine. It and the stack begin
# small, since to clear them takes longer than most searches.
search()
{
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./pan -w22 -m100000 "$@" >pan.log 2>&1
    ! grep -q 'out of memory\|max search depth too small\|aborted' pan.log &&
        sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
}

# holds NAME OPTION..., fails NAME OPTION...: no counterexample, a counterexample
holds()
{
    name=$1
    shift
    is "$(search "$@")" 0 "$name ($(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log) states)"
}
fails()
{
    name=$1
    shift
    is "$(search "$@")" 1 "$name: found out"
}
