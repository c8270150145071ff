# all.sh: every test, in every build: `check yes` or `check no`, where yes counts what is skipped as
# failed. Sourced by ./quickstart, which has try and $log.
# shellcheck shell=sh
# shellcheck disable=SC2154

passed=0 failed=0 skipped=0

# count FOLDER: adds up the results that automake's TAP driver left there.
count()
{
    results=$(find "$1" -name '*.trs' -exec grep -h '^:test-result:' {} + || true)
    passed=$((passed + $(echo "$results" | grep -cE ': (PASS|XFAIL)' || true)))
    failed=$((failed + $(echo "$results" | grep -cE ': (FAIL|XPASS|ERROR)' || true)))
    skipped=$((skipped + $(echo "$results" | grep -c ': SKIP' || true)))
    find "$1" -name '*.trs' -exec grep -lE '^:test-result: (FAIL|XPASS|ERROR)' {} + |
        sed 's/trs$/log/' | while read -r file; do
        echo "---- $file"
        grep -vE '^(ok |PASS: )' "$file" | tail -n 40
    done
    find "$1" -name '*.trs' -exec grep -h '^:test-result: SKIP' {} + | sed 's/^:test-result: /     /' ||
        true
}

# tests TEXT FOLDER TARGET ARGUMENT...: `make TARGET` there, which is check or one like it. If it fails
# and no test did, it counts as one.
tests()
{
    text=$1 folder=$2
    shift 2
    before=$failed
    find "$folder/tests" -name '*.trs' -exec rm -f {} +
    if try "$text" make -C "$folder" -k "$@"; then
        count "$folder/tests"
    else
        count "$folder/tests"
        [ "$failed" -gt "$before" ] || lost
    fi
}

# A step that is no test but has failed.
lost()
{
    echo "The last lines of $log:"
    tail -n 40 "$log"
    failed=$((failed + 1))
}

# A step for which a tool is missing.
skip()
{
    printf '%-52s skipped: %s is not installed\n' "$1" "$2"
    skipped=$((skipped + 1))
}

# other NAME OPTION...: another build, in build/NAME, from the very files that `make dist` ships.
other()
{
    name=$1
    shift
    rm -rf "build/$name"
    mkdir -p "build/$name"
    if try "configuring for $name" sh -c 'cd "$0" && ../source/configure "$@"' "build/$name" "$@" &&
        try "building for $name" make -C "build/$name" -j "$(nproc)" check TESTS=; then
        return 0
    fi
    lost
    return 1
}

# fuzz_one NAME: 30 s of one target.
fuzz_one()
{
    target=build/fuzz/tests/fuzz/$1
    mkdir -p "$target.new"
    "$target" -max_total_time=30 -timeout=5 -artifact_prefix="$target." "$target.new" \
        "tests/fuzz/corpus_${1#fuzz_}" >"$target.out" 2>&1 || {
        cat "$target.out"
        return 1
    }
}

# fuzz_all NAME...: all of them beside each other.
fuzz_all()
{
    running='' bad=0
    for name; do
        fuzz_one "$name" &
        running="$running $!"
    done
    for one in $running; do
        wait "$one" || bad=1
    done
    return $bad
}

fuzz()
{
    set -- tests/fuzz/fuzz_*.c
    names=$(basename -s .c "$@")
    # shellcheck disable=SC2086 # words
    if try "fuzzing for 30 s" fuzz_all $names; then
        passed=$((passed + $#))
    else
        lost
    fi
}

# Unit and script tests with the sanitizers; unit tests under valgrind; each fuzz target for 30 s.
# Warnings are errors in a plain build only: sanitizers and clang bring others.
check_others()
{
    if other sanitizers --enable-sanitizers CFLAGS='-O1 -g'; then
        tests 'tests with ASan and UBSan' build/sanitizers check -j "$(nproc)" \
            TESTS='$(unit_tests) $(script_tests)' CK_TIMEOUT_MULTIPLIER=5
    fi
    if ! command -v valgrind >/dev/null; then
        skip 'tests under valgrind' valgrind
    elif other valgrind "--enable-werror=$strict" --disable-hardening CFLAGS='-O2 -g'; then
        tests 'tests under valgrind' build/valgrind check -j "$(nproc)" \
            TESTS='$(unit_tests)' CK_TIMEOUT_MULTIPLIER=20 \
            LOG_COMPILER='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite'
    fi
    if ! command -v clang >/dev/null; then
        skip 'fuzzing' clang
    elif other fuzz --enable-fuzzing CC=clang CFLAGS='-O1 -g'; then
        fuzz
    fi
}

check()
{
    strict=$1
    if try 'building the tests' make -j "$(nproc)" check TESTS=; then
        tests 'tests' . check
        tests 'tests on a Cluster' . check-cluster -j "$(nproc)" set_tests='$(set_quick)'
        tests 'tests on a Sentinel set' . check-sentinel -j "$(nproc)" set_tests='$(set_quick)'
    else
        lost
    fi
    rm -rf build/source
    if try 'a copy of the source, as it is shipped' make distdir distdir=build/source; then
        check_others
    else
        lost
    fi

    [ "$strict" = no ] || failed=$((failed + skipped))
    [ "$skipped" -eq 0 ] || echo "$skipped skipped"
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
