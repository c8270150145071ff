# all.sh: runs every test: `check STRICT QUICK`, each of them yes or no. STRICT counts a skipped test
# as failed. QUICK runs quick_tests (tests.am) on the plain build, in some five minutes on two cores.
# begin_tree comes before, as soon as its packages are there. ./quickstart sources this file; it has try, await,
# end_tools and $log.
# shellcheck shell=sh
# shellcheck disable=SC2154

passed=0 failed=0 skipped=0
times=build/times.txt
jobs=$((6 * $(nproc))) # most tests mostly wait
[ "$jobs" -le 32 ] || jobs=32

# In a quick check, test programs are built when their turn comes, beside tests that wait. Only those that
# several tests need are built first.
tools='check_PROGRAMS=$(c_tools) $(system_programs)'

# How test programs are compiled; what they test is built by then. To optimize them takes longer than it saves.
flags='CFLAGS=-O0 -g1'

# failures: reads a test's log, and prints what failed and what was seen.
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

# count FOLDER: adds up the results that automake's TAP driver left in it.
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

# tests TEXT FOLDER ARGUMENT...: runs `make check` in it. If that fails without a failed test, it
# counts as one.
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

# Counts a step that is no test but has failed.
lost()
{
    echo "The last lines of $log:"
    tail -n 40 "$log"
    failed=$((failed + 1))
}

# fuzz_one NAME: fuzzes one target by so many inputs, which takes some seconds, however busy the machine is. The
# seed is fixed, so that a commit that passed passes again. LATER_FUZZ_SEED=0 takes a random one.
fuzz_one()
{
    target=build/sanitizers/tests/fuzz/$1
    runs=50000
    [ "$1" != fuzz_config ] || runs=5000
    mkdir -p "$target.new"
    sh tests/fuzz/corpus.sh "${1#fuzz_}" "$target.corpus" || return 1
    nice "$target" -seed="${LATER_FUZZ_SEED:-1}" -runs=$runs -timeout=120 -artifact_prefix="$target." \
        "$target.new" "$target.corpus" >"$target.out" 2>&1 || {
        cat "$target.out"
        return 1
    }
}

# fuzz_all NAME...: fuzzes all of them at once.
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

# sanitize TARGET...: makes another build in build/sanitizers, from the files that `make dist` ships, with
# ASan and UBSan. Runs the unit tests (the script tests test Lua) and beside them each fuzz target for a
# while. Fuzzing needs clang. Warnings are errors only in a plain build, since sanitizers and clang bring
# others. Only what is fuzzed for long is optimized: to optimize the rest takes longer than it saves.
# Failures are listed in build/sanitizers.bad.
sanitize()
{
    if [ $# -eq 0 ]; then
        set -- --enable-sanitizers
    else
        fuzzed=$*
        set -- --enable-fuzzing CC=clang
    fi
    rm -rf build/sanitizers
    mkdir -p build/sanitizers
    echo building >build/sanitizers.bad
    # shellcheck disable=SC2086 # words
    (cd build/sanitizers && ../source/configure "$@" --disable-dependency-tracking CFLAGS='-O0 -g1') &&
        make -C build/sanitizers lib/script_names.h &&
        make -C build/sanitizers -j "$(nproc)" $optimized CFLAGS='-O1 -g1' &&
        make -C build/sanitizers -j "$(nproc)" check TESTS= "$sanitized" || return 1
    : >build/sanitizers.bad
    # shellcheck disable=SC2086 # words
    fuzz_all ${fuzzed-} >build/fuzz.out 2>&1 &
    make -C build/sanitizers -k check -j "$((jobs / 2))" "$sanitized" TESTS='$(unit_tests)' \
        CK_TIMEOUT_MULTIPLIER=20 LATER_SHORT=1 || echo tests >>build/sanitizers.bad
    wait "$!" || echo fuzzing >>build/sanitizers.bad
    ! [ -s build/sanitizers.bad ]
}
optimized='lib/liblater.a lib/liblater-config.a tests/fuzz/fuzz_config tests/fuzz/fuzz_document tests/fuzz/fuzz_reply'
sanitized='check_PROGRAMS=$(unit_tests) $(fuzz_targets)'

# count_sanitized NUMBER: counts what sanitize found, with this many fuzz targets.
count_sanitized()
{
    before=$failed
    count build/sanitizers/tests
    case $(tr '\n' ' ' <build/sanitizers.bad) in
    *fuzzing*)
        cat build/fuzz.out
        failed=$((failed + 1))
        ;;
    *building*) ;;
    *) passed=$((passed + $1)) ;;
    esac
    [ "$failed" -gt "$before" ] || ! [ -s build/sanitizers.bad ] || lost
}

# Tests the plain build: all its tests, and some on a Cluster, on a Sentinel set and under valgrind.
# The sanitizer build and its tests run beside them. Tests that measure time come at the end, each with a
# processor for itself.
check_plain()
{
    set --
    if command -v clang >/dev/null; then
        set -- tests/fuzz/fuzz_*.c
        # shellcheck disable=SC2046 # words
        set -- $(basename -s .c "$@")
    else
        printf '%-52s skipped: clang is not installed\n' fuzzing
        skipped=$((skipped + 1))
    fi
    rm -rf build/source
    if try 'a copy of the source, as it is shipped' make distdir distdir=build/source; then
        sanitize "$@" >build/sanitizers.log 2>&1 </dev/null &
        other=$!
    else
        other=
        lost
    fi
    tests 'tests, side by side' . -j "$jobs" TESTS='$(beside_tests)'
    if [ -n "$other" ]; then
        try 'unit tests with ASan and UBSan, and fuzzing, beside' await "$other" build/sanitizers.log || :
        count_sanitized $#
    fi
    tests 'tests that measure waits' . -j 3 TESTS='$(timed_waits)'
    tests 'tests that measure time, a processor for each' . -j "$(nproc)" TESTS='$(filter-out $(timed_waits),$(timed_tests))'
}

# Debian's own python3 first, for which the tests are: another one may be a script that looks for it, and take ten
# times as long to start.
use_debians_python()
{
    [ -x /usr/bin/python3 ] || return 0
    mkdir -p build/bin
    ln -sf /usr/bin/python3 build/bin/python3
    PATH=$PWD/build/bin:$PATH
    export PATH
}

# begin_tree: makes a Debian tree to boot, beside all that follows. The test that boots it waits for it, and says
# what fails.
begin_tree()
{
    [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null || return 0
    sh tests/system/systemd/tree.sh >build/tree.log 2>&1 </dev/null &
}

check()
{
    strict=$1 quick=$2
    use_debians_python
    : >"$times"
    # In a whole check the build has time while packages are installed.
    [ "$quick" = yes ] || tools=
    if ! try 'building what tests need' make -j "$(nproc)" check TESTS= "$flags" ${tools:+"$tools"}; then
        lost
    elif [ "$quick" = yes ]; then
        # Without the tests that compute for long, more can run at once.
        tests 'unit, script and system tests' . -j $((jobs * 3 / 2)) TESTS='$(quick_tests)' "$flags" "$tools"
    else
        end_tools
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
