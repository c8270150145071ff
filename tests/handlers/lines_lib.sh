# lines_lib.sh: what the tests of handlers share that drive a program by hand, without laterd. On top of lib.sh.
# shellcheck shell=sh

# job ID TYPE [PAYLOAD]: the line of a job.
job()
{
    printf '{"id":"%s","type":"%s","time_left":300.0,"document":{"type":"%s","payload":%s}}\n' "$1" "$2" "$2" "${3:-null}"
}

# begun NAME: waits until the handler has begun.
begun()
{
    until [ -s "$work/$1" ]; do
        sleep 0.05
    done
}
