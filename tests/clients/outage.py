#!/usr/bin/python3
"""outage.py SOCKET FILE [loading | refused]: stands where a Redis was that is away. Of those who connect and ask, it
hangs up on the first, tells the second that it is LOADING, hangs up on the third before it has read anything, and so on
in turns; or it tells all of them that it is LOADING, or that their password is wrong, and then hangs up. For each time
that it has turned somebody away it writes a line to FILE."""
import itertools
import re
import select
import socket
import sys
import threading

LOADING = b"-LOADING Redis is loading the dataset in memory\r\n"
REFUSED = b"-WRONGPASS invalid username-password pair or user is disabled.\r\n"
NOTED = open(sys.argv[2], "w", encoding="ascii", buffering=1)


def turn_away(caller, how):
    select.select([caller], [], [])
    if how == "reset":
        print(how, file=NOTED)
        return
    while asked := caller.recv(65536):
        print(how, file=NOTED)
        if how == "closed":
            return
        said = REFUSED if how == "refused" else LOADING
        caller.sendall(said * len(re.findall(rb"(?:^|\n)\*\d", asked)))
        if how == "refused":
            return


def serve(caller, how):
    with caller:
        try:
            turn_away(caller, how)
        except OSError:
            pass  # it has hung up


def main():
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen(100)
    for how in itertools.cycle(sys.argv[3:] or ("closed", "loading", "reset")):
        caller, _ = server.accept()
        threading.Thread(target=serve, args=(caller, how), daemon=True).start()


main()
