"""A receiver of webhooks on this machine, which answers as it is told to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Receiver:
    """Takes what is posted. `status` and `body` answer; `hangs`: it does not, until the test is over."""

    def __init__(self):
        self.status, self.body, self.location, self.hangs = 200, b"", "", False
        self.posts, self.over = [], threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler):
                length = int(handler.headers["Content-Length"])
                self.posts.append((handler.path, dict(handler.headers), json.loads(handler.rfile.read(length))))
                if self.hangs:
                    self.over.wait(60)
                    return
                handler.send_response(self.status)
                if self.location:
                    handler.send_header("Location", self.location)
                handler.send_header("Content-Length", str(len(self.body)))
                handler.end_headers()
                handler.wfile.write(self.body)

            do_GET = do_POST

            def log_message(handler, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/hook"


@pytest.fixture
def receiver():
    found = Receiver()
    serving = threading.Thread(target=found.server.serve_forever)
    serving.start()
    yield found
    found.over.set()
    found.server.shutdown()
    serving.join()
    found.server.server_close()
