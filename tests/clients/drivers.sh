# shellcheck shell=sh
# drivers.sh: which clients there are, and how each is driven. Sourced after lib.sh, by scripts that have called
# redis_python, and have $clients: the folder of the drivers.

# each_driver FUNCTION: calls it for each client as FUNCTION DRIVER [ARGUMENT...], with the client's name as $client: that
# of its language, of its library if it has several (php-predis), and -fake if it is the fake. CLIENTS='python c': only for
# those. A client that cannot be tried here is reported.
each_driver()
{
    call=$1
    drive c "$python" "$clients/driver_later.py" "$later_bin"
    drive python "$python" "$clients/driver.py"
    drive python-asyncio "$python" "$clients/driver.py" async
    drive python-fake "$python" "$clients/driver.py"
    drive python-asyncio-fake "$python" "$clients/driver.py" async
    with_php drive_php
    ! command -v php >/dev/null || drive_php fake
    ! command -v node >/dev/null || drive node-fake node "$clients/driver.mjs" fake
    with_node drive_node
    with_ruby drive_ruby
    with_go drive_go
}

drive()
{
    client=$1
    shift
    case " ${CLIENTS:-$client} " in
    *" $client "*) "$call" "$@" ;;
    esac
}

drive_php()
{
    drive "php-$1" php "$clients/driver.php" "$1"
}

drive_node()
{
    drive "node-$1" node "$clients/driver.mjs" "$1" "$node_modules"
}

drive_ruby()
{
    drive ruby ruby "$clients/driver.rb"
    drive ruby-fake ruby "$clients/driver.rb"
}

drive_go()
{
    go_program=$(mktemp -d "$work/go.XXXXXX")/driver
    if go_driver "$clients" "$go_program"; then
        drive go "$go_program"
        drive go-fake "$go_program"
    elif [ -s "$work/go.log" ]; then
        not_ok "go: the driver is built" "$work/go.log"
    else
        missing go "golang-github-mna-redisc-dev is not installed"
    fi
}
