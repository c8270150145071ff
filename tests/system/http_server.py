"""http_server.py DIR: a web server on 127.0.0.1, with well-behaved and broken paths.

With a DIR/cert.pem it speaks TLS on a second port. It writes its ports to DIR/port, a line
per request to DIR/requests ("PATH REQUESTS-IN-HAND"), and what /echo got to DIR/echo. The
last part of a path may be a number: /status/503.
"""
import asyncio
import email.utils
import os
import ssl
import sys
import time

folder = sys.argv[1]
waiting = 0
meet = None


async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    body = await reader.readexactly(int(headers.get("Content-Length", 0)))
    return lines[0].split(" ")[1], head, body


def answer(status, head=b"", body=b""):
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    return b"HTTP/1.1 %d Words\r\n%s%s%s" % (status, head, length, body)


async def endless(writer, begin, piece, pause=0.0):
    writer.write(begin)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause)


async def meeting(number):
    """Holds every request until `number` of them are in hand, and then for 200 ms."""
    global meet
    if meet is None or meet.is_set():
        meet = asyncio.Event()
    if waiting >= number:
        meet.set()
    await meet.wait()
    await asyncio.sleep(0.2)


async def respond(path, head, body, writer):
    name, _, number = path[1:].partition("/")
    number = int(number or 0)
    if name == "slow":
        await asyncio.sleep(number / 1000)
        writer.write(answer(200))
    elif name == "meet":
        await meeting(number)
        writer.write(answer(200))
    elif name == "echo":
        with open(folder + "/echo", "wb") as file:
            file.write(head + body)
        writer.write(answer(204))
    elif name == "status":
        writer.write(answer(number, body=b"because of\n%d" % number))
    elif name == "json":
        writer.write(answer(200, body=b' {"a":[1,2.50,12345678901234567890]}\n'))
    elif name == "after":
        writer.write(answer(429, b"Retry-After: %d\r\n" % number))
    elif name == "date":
        date = email.utils.formatdate(time.time() + number, usegmt=True)
        writer.write(answer(503, b"Retry-After: %s\r\n" % date.encode()))
    elif name == "redirect":
        writer.write(answer(302, b"Location: /ok\r\n"))
    elif name == "hang":
        await asyncio.sleep(3600)
    elif name == "drip":
        await endless(writer, b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.1)
    elif name == "giant":
        await endless(writer, b"HTTP/1.1 500 Oh\r\n\r\n", b"x" * 65536)
    elif name == "headers":
        await endless(writer, b"HTTP/1.1 200 OK\r\n", b"X-Y: z\r\n" * 1000)
    elif name == "short":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
        writer.close()
    elif name == "long":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + b"HTTP/1.1 500 x\r\n" * 5000)
    elif name == "garbage":
        writer.write(bytes(range(256)) * 16)
        writer.close()
    elif name == "nothing":
        writer.close()
    else:
        writer.write(answer(200, body=b"fine"))


async def serve(reader, writer):
    global waiting
    try:
        while not writer.is_closing():
            path, head, body = await read_request(reader)
            waiting += 1
            try:
                requests.write("%s %d\n" % (path, waiting))
                await respond(path, head, body, writer)
            finally:
                waiting -= 1
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    servers = [await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)]
    if os.path.exists(folder + "/cert.pem"):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(folder + "/cert.pem")
        servers.append(await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context))
    with open(folder + "/port.new", "w") as file:
        for each in servers:
            file.write("%d\n" % each.sockets[0].getsockname()[1])
    os.rename(folder + "/port.new", folder + "/port")
    await servers[0].serve_forever()


requests = open(folder + "/requests", "w", buffering=1)
asyncio.run(main())
