"""
Signs the project with the token in its environment and sends it to a registry. This command has its own network without
outside access, so it starts the registry itself.
"""

import hashlib
import hmac
import json
import os
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

token = os.environ["RELEASE_TOKEN"].encode()


class Registry(BaseHTTPRequestHandler):
    def do_POST(self):
        build = self.rfile.read(int(self.headers["Content-Length"]))
        expected = hmac.new(token, build, hashlib.sha256).hexdigest()
        accepted = hmac.compare_digest(self.headers["X-Signature"], expected)
        self.send_response(201 if accepted else 403)
        self.end_headers()

    def log_message(self, *_):
        pass


registry = HTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=registry.serve_forever, daemon=True).start()

# Meanwhile, another command searches for the token.
Path("releasing").touch()
for _ in range(1000):
    if Path("searched").exists():
        break
    time.sleep(0.02)

build = b"".join(path.read_bytes() for path in sorted(Path(".").glob("*.py")))
signature = hmac.new(token, build, hashlib.sha256).hexdigest()
request = urllib.request.Request(
    f"http://127.0.0.1:{registry.server_port}/prices", data=build, headers={"X-Signature": signature}
)
with urllib.request.urlopen(request) as answer:
    Path("release.json").write_text(json.dumps({"status": answer.status, "bytes": len(build)}))
