"""Serves the price of a basket over HTTP."""

from http.server import BaseHTTPRequestHandler, HTTPServer

from prices import total


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"total: {total([(50, 2)], discount=0.25):g}\n".encode())


HTTPServer(("127.0.0.1", 8080), Shop).serve_forever()
