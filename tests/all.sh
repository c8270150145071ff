# all.sh: every test: `check STRICT QUICK`, each of them yes or no. STRICT counts what is skipped as
# failed; QUICK runs quick_tests (tests.am) on the plain build, which take three minutes on two cores.
# Sourced by ./quickstart, which has try and $log.
# shellcheck shell=sh
# shellcheck disable=SC2154

passed=0 failed=0 skipped=0
times=build/times.txt
jobs=$((4 * $(nproc))) # most tests wait most of the time
[ "$jobs" -le 32 ] || jobs=32

# failures: of a test's log on standard input, what failed and what was seen.
failures()
{
    awk '
        { last[NR % 20] = $0 }
        /^(FAIL|XPASS): / { print; told = shows = 1; next }
        /^ERROR: / { if (!told || !/ exited with status /) print; shows = 1; next }
        /^# took / { next }
        /^#/ && shows { sub(/^#/, "   "); print; next }
        { shows = 0 }
        END {
            if (told) exit
            for (i = NR < 20 ? 1 : NR - 19; i <= NR; i++)
                if (last[i % 20] !~ /^(ok |PASS: |ERROR: )/) print "    " last[i % 20]
        }'
}

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
        failures <"$file"
    done
    find "$1" -name '*.trs' -exec grep -l '^:test-result: SKIP' {} + | sed 's/trs$/log/' |
        while read -r file; do
            grep '^SKIP: ' "$file"
        done
    find "$1" -name '*.trs' | sed 's/trs$/log/' | while read -r file; do
        sed -n "s|^# took \([0-9.]*\) s, \([0-9.]*\) s of CPU\$|\1 \2 ${file%.log}|p" "$file"
    done >>"$times"
}

# tests TEXT FOLDER ARGUMENT...: `make check` there. If it fails and no test did, it counts as one.
tests()
{
    text=$1 folder=$2
    shift 2
    before=$failed
    find "$folder/tests" -name '*.trs' -exec rm -f {} +
    if try "$text" make -C "$folder" -k check "$@"; then
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

# other NAME OPTION...: another build, in build/NAME, from the very files that `make dist` ships: of
# what unit tests need, and fuzzers.
other()
{
    name=$1
    shift
    rm -rf "build/$name"
    mkdir -p "build/$name"
    if try "configuring for $name" sh -c 'cd "$0" && ../source/configure "$@"' "build/$name" "$@" &&
        try "building for $name" make -C "build/$name" -j "$(nproc)" check TESTS= "$other_programs"; then
        return 0
    fi
    lost
    return 1
}
other_programs='check_PROGRAMS=$(unit_tests) $(fuzz_targets)'

# fuzz_one NAME: 30 s of one target. The seed is the same each time, so that a commit that passed passes
# again; LATER_FUZZ_SEED=0 takes a random one.
fuzz_one()
{
    target=build/sanitizers/tests/fuzz/$1
    mkdir -p "$target.new"
    nice "$target" -seed="${LATER_FUZZ_SEED:-1}" -max_total_time=30 -timeout=20 -artifact_prefix="$target." \
        "$target.new" "tests/fuzz/corpus_${1#fuzz_}" >"$target.out" 2>&1 || {
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

# Unit tests with ASan and UBSan (what script tests test is Lua), and beside them each fuzz target for
# 30 s. The fuzzers want clang. Warnings are errors in a plain build only: sanitizers and clang bring others.
check_sanitized()
{
    if ! command -v clang >/dev/null; then
        printf '%-52s skipped: clang is not installed\n' fuzzing
        skipped=$((skipped + 1))
        other sanitizers --enable-sanitizers CFLAGS='-O1 -g' || return 0
        set --
    else
        other sanitizers --enable-fuzzing CC=clang CFLAGS='-O1 -g' || return 0
        set -- tests/fuzz/fuzz_*.c
        # shellcheck disable=SC2046 # words
        set -- $(basename -s .c "$@")
    fi
    fuzz_all "$@" >build/fuzz.out 2>&1 &
    fuzzers=$!
    tests 'tests with ASan and UBSan' build/sanitizers -j "$jobs" "$other_programs" \
        TESTS='$(unit_tests)' CK_TIMEOUT_MULTIPLIER=20
    if try 'fuzzing for 30 s, beside them' wait "$fuzzers"; then
        passed=$((passed + $#))
    else
        cat build/fuzz.out
        failed=$((failed + 1))
    fi
}

# The plain build: its tests; some of them on a Cluster, on a Sentinel set, under valgrind; alone,
# at the end of all, those that measure time.
check_plain()
{
    tests 'tests, side by side' . -j "$jobs" TESTS='$(beside_tests)'
    rm -rf build/source
    if try 'a copy of the source, as it is shipped' make distdir distdir=build/source; then
        check_sanitized
    else
        lost
    fi
    tests 'tests that measure time, one by one' . TESTS='$(timed_tests)'
    tests 'the service under systemd' . TESTS='$(booted_tests)' LATER_TEST_LIMIT=900
}

check()
{
    strict=$1 quick=$2
    : >"$times"
    set --
    [ "$quick" = no ] || set -- check_PROGRAMS='$(quick_programs)'
    if ! try 'building the tests' make -j "$(nproc)" check TESTS= "$@"; then
        lost
    elif [ "$quick" = yes ]; then
        # Without those that compute for long, more of them wait.
        tests 'unit, script and system tests' . -j $((jobs * 3 / 2)) TESTS='$(quick_tests)' "$@"
    else
        check_plain
    fi
    sort -rn -o "$times" "$times"
    echo "What each test took, in seconds of time and of CPU: $times"

    [ "$strict" = no ] || failed=$((failed + skipped))
    summary="$passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || summary="$summary, $skipped skipped"
    echo "$summary"
    [ "$failed" -eq 0 ]
}
