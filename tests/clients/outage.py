#!/usr/bin/python3
"""outage.py SOCKET FILE [loading]: stands where a Redis was that is away. Of those who connect and ask it hangs up on the
first, tells the second that it is LOADING, and so on in turns; or it tells that to all of them. For each time that it has
turned somebody away it writes a line to FILE."""
import itertools
import re
import socket
import sys
import threading

LOADING = b"-LOADING Redis is loading the dataset in memory\r\n"
NOTED = open(sys.argv[2], "w", encoding="ascii", buffering=1)


def turn_away(caller, loads):
    try:
        while asked := caller.recv(65536):
            print("loading" if loads else "closed", file=NOTED)
            if not loads:
                break
            caller.sendall(LOADING * len(re.findall(rb"(?:^|\n)\*\d", asked)))
    except OSError:
        pass
    caller.close()


def main():
    server = socket.socket(socket.AF_UNIX)
    server.bind(sys.argv[1])
    server.listen(100)
    for loads in itertools.cycle((bool(sys.argv[3:]), True)):
        caller, _ = server.accept()
        threading.Thread(target=turn_away, args=(caller, loads), daemon=True).start()


main()
