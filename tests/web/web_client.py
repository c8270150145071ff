"""web_client.py: requests to later-web over a unix socket or TCP."""
import http.client
import http.server
import json
import socket
import threading

from patience import until


class Connection(http.client.HTTPConnection):
    """To `unix:PATH` or HOST:PORT."""

    def __init__(self, where, timeout=60):
        self.where = where
        super().__init__('localhost' if where.startswith('unix:') else where, timeout=timeout)

    def connect(self):
        if not self.where.startswith('unix:'):
            return super().connect()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        if not until(self.is_let_in, self.timeout):
            raise TimeoutError('so many wait to be let in that the line is full')

    def is_let_in(self):
        try:
            self.sock.connect(self.where[5:])
            return True
        except BlockingIOError:
            return False


def ask(where, path, body=None, method=None, headers=None):
    """Returns status, headers and body (decoded if it is JSON) of one request."""
    connection = Connection(where)
    all_headers = {'Host': 'localhost'}
    if body is not None:
        all_headers.update({'Content-Type': 'application/json', 'Origin': 'http://localhost'})
        body = json.dumps(body) if not isinstance(body, (bytes, str)) else body
    all_headers.update(headers or {})
    all_headers = {name: value for name, value in all_headers.items() if value is not None}
    connection.putrequest(method or ('GET' if body is None else 'POST'), path, skip_host=True,
                          skip_accept_encoding=True)
    if body is not None:
        body = body.encode() if isinstance(body, str) else body
        all_headers['Content-Length'] = str(len(body))
    for name, value in all_headers.items():
        connection.putheader(name, value)
    try:
        connection.endheaders(body)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was refused before it was read to its end
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.getheader('Content-Type') == 'application/json':
        text = json.loads(text)
    return answer.status, answer.headers, text


def take_posts(took, address='127.0.0.1', context=None):
    """Starts an HTTP server, and returns its port. took(path, headers, body) says with which status each
    POST is answered; None: the connection ends without an answer. context: of ssl; None: without TLS."""
    class Taker(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            status = took(self.path, self.headers, self.rfile.read(int(self.headers['Content-Length'])).decode())
            if status:
                self.send_response(status)
                self.end_headers()

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ':' in address else socket.AF_INET
    server = Server((address, 0), Taker)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def events(where, path, count, seconds=60, headers=None):
    """Returns the first `count` events of a stream, as (name, data)."""
    connection = Connection(where, timeout=seconds)
    connection.request('GET', path, headers={'Host': 'localhost', **(headers or {})})
    answer = connection.getresponse()
    found, name = [], ''
    while len(found) < count:
        line = answer.fp.readline() if not answer.chunked else answer.readline()
        if not line:
            break
        line = line.decode().rstrip('\n')
        if line.startswith('event: '):
            name = line[7:]
        elif line.startswith('data: '):
            found.append((name, json.loads(line[6:])))
            name = ''
    connection.close()
    return found
