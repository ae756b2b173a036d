/** Python and its library for processes, networks and databases. CPython's own tests run elsewhere. */
import type { CompatibilityProgram } from './program.ts'

export const pythonPrograms: readonly CompatibilityProgram[] = [
  {
    title: 'multiprocessing: Pool, Manager, Queue, Lock, Value and Array',
    code: `
import multiprocessing as mp
def square(n): return n * n
def count(shared, numbers, lock):
    for _ in range(100):
        with lock: shared.value += 1
    numbers[0] += 1
if __name__ == "__main__":
    mp.set_start_method("fork")
    with mp.Pool(3) as pool: print(sum(pool.map(square, range(100))), pool.apply_async(square, (9,)).get())
    with mp.Manager() as manager:
        names = manager.dict(a=1); names["b"] = 2; print(sorted(names.items()), list(manager.list([1])))
    shared, numbers, lock = mp.Value("i", 0), mp.Array("i", [0]), mp.Lock()
    workers = [mp.Process(target=count, args=(shared, numbers, lock)) for _ in range(3)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    print(shared.value, [worker.exitcode for worker in workers])
    queue = mp.Queue(); queue.put([1, "x"]); print(queue.get())`,
    prints: "328350 81\n[('a', 1), ('b', 2)] [1]\n300 [0, 0, 0]\n[1, 'x']\n",
  },
  {
    title: 'multiprocessing.shared_memory, and a map of a file that two processes share',
    code: `
import mmap, os
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=1 << 20)
other = shared_memory.SharedMemory(block.name)
other.buf[:5] = b"there"
print(bytes(block.buf[:5]))
other.close(); block.close(); block.unlink()
with open("shared", "w+b") as file:
    file.truncate(4096)
    with mmap.mmap(file.fileno(), 4096) as memory:
        if os.fork() == 0: memory[:2] = b"hi"; os._exit(0)
        os.wait(); print(memory[:2])`,
    prints: "b'there'\nb'hi'\n",
  },
  {
    title: 'concurrent.futures with threads and with processes, started by fork and by spawn',
    code: `
import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
def cube(n): return n ** 3
if __name__ == "__main__":
    with ThreadPoolExecutor(4) as threads: print(sorted(future.result() for future in as_completed([threads.submit(cube, n) for n in range(4)])))
    for method in "fork", "spawn":
        with ProcessPoolExecutor(2, mp.get_context(method)) as processes: print(method, list(processes.map(cube, range(4))))`,
    prints: '[0, 1, 8, 27]\nfork [0, 1, 8, 27]\nspawn [0, 1, 8, 27]\n',
  },
  {
    title: 'asyncio: subprocesses, streams over TCP and Unix sockets, signals, timeouts, threads',
    code: `
import asyncio, os, signal
async def echo(reader, writer):
    writer.write((await reader.read()).upper()); writer.close()
async def ask(reader, writer):
    writer.write(b"asked"); writer.write_eof(); answer = await reader.read(); writer.close(); return answer
async def main():
    child = await asyncio.create_subprocess_exec("sort", stdin=-1, stdout=-1)
    print((await child.communicate(b"b\\na\\n"))[0], child.returncode)
    shell = await asyncio.create_subprocess_shell("exec sleep 60"); shell.kill(); print(await shell.wait())
    tcp = await asyncio.start_server(echo, "127.0.0.1", 0)
    print(await ask(*await asyncio.open_connection(*tcp.sockets[0].getsockname())))
    unix = await asyncio.start_unix_server(echo, "echo.sock")
    print(await ask(*await asyncio.open_unix_connection("echo.sock")))
    got = asyncio.Event(); asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1); await got.wait()
    try: await asyncio.wait_for(asyncio.sleep(60), 0.01)
    except asyncio.TimeoutError: print("timeout", await asyncio.to_thread(os.getpid) == os.getpid())
    tcp.close(); unix.close()
if __name__ == "__main__":
    loop = asyncio.new_event_loop(); loop.run_until_complete(main())`,
    prints: "b'a\\nb\\n' 0\n-9\nb'ASKED'\nb'ASKED'\ntimeout True\n",
  },
  {
    title: 'sqlite3: a file with a write-ahead log, two connections, threads, a backup, functions',
    code: `
import sqlite3, threading
db = sqlite3.connect("data.db")
print(db.execute("PRAGMA journal_mode = WAL").fetchone()[0])
with db: db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"); db.executemany("INSERT INTO item (name) VALUES (?)", ((f"item {n}",) for n in range(1000)))
def insert():
    with sqlite3.connect("data.db", timeout=10) as own: own.execute("INSERT INTO item (name) VALUES ('from a thread')")
threads = [threading.Thread(target=insert) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
db.create_function("twice", 1, lambda n: n * 2)
print(db.execute("SELECT twice(count(*)) FROM item").fetchone()[0])
copy = sqlite3.connect("copy.db"); db.backup(copy); print(len(list(copy.iterdump())) > 1000)`,
    prints: 'wal\n2006\nTrue\n',
  },
  {
    title:
      'http.server and urllib in threads; socketserver; xmlrpc; a TLS server with a certificate made on the spot',
    needs: ['openssl'],
    code: `
import http.server, ssl, subprocess, threading, urllib.request, xmlrpc.client, xmlrpc.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"page " + self.path.encode())
    def log_message(self, *_): pass
def serve(server): threading.Thread(target=server.serve_forever, daemon=True).start(); return server.server_address[1]
plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
print(urllib.request.urlopen(f"http://localhost:{serve(plain)}/x").read())
rpc = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False); rpc.register_function(pow)
print(xmlrpc.client.ServerProxy(f"http://127.0.0.1:{serve(rpc)}").pow(2, 10))
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("cert.pem", "key.pem")
tls = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page); tls.socket = context.wrap_socket(tls.socket, server_side=True)
trusting = ssl.create_default_context(cafile="cert.pem")
print(urllib.request.urlopen(f"https://localhost:{serve(tls)}/secret", context=trusting).read())
try: urllib.request.urlopen(f"https://localhost:{tls.server_address[1]}/")
except OSError as error: print("CERTIFICATE_VERIFY_FAILED" in str(error))`,
    prints: "b'page /x'\n1024\nb'page /secret'\nTrue\n",
  },
  {
    title: 'pty.spawn of a shell, termios, a terminal that a child controls',
    code: `
import os, pty, sys, termios
pid, descriptor = pty.fork()
if pid == 0:
    termios.tcgetattr(0)
    with open("/dev/tty", "w") as terminal: terminal.write("controlled " + str(os.isatty(0)))
    os._exit(0)
text = b""
try:
    while part := os.read(descriptor, 99): text += part
except OSError: pass
print(text.decode(), os.waitpid(pid, 0)[1])`,
    prints: 'controlled True 0\n',
  },
  {
    title: 'ctypes: functions of the C library, callbacks, structures',
    code: `
import ctypes
libc = ctypes.CDLL(None)
numbers = (ctypes.c_int * 5)(5, 3, 1, 4, 2)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
libc.qsort(numbers, 5, ctypes.sizeof(ctypes.c_int), compare)
print(list(numbers), libc.abs(-42))`,
    prints: '[1, 2, 3, 4, 5] 42\n',
  },
  {
    title: 'venv, py_compile, compileall, an import from a zip archive',
    code: `
import compileall, py_compile, subprocess, sys, venv, zipfile
venv.create("environment", with_pip=False, symlinks=True)
print(subprocess.run(["environment/bin/python", "-c", "import sys; print(sys.prefix != sys.base_prefix)"], capture_output=True, text=True).stdout.strip())
with open("module.py", "w") as file: file.write("answer = 42")
print(py_compile.compile("module.py").startswith("__pycache__/module.cpython"))
with zipfile.ZipFile("made.zip", "w") as archive: archive.write("module.py", "zipped.py")
sys.path.insert(0, "made.zip")
import zipped
print(zipped.answer, compileall.compile_dir(".", maxlevels=0, quiet=1))`,
    prints: 'True\nTrue\n42 True\n',
  },
  {
    title: 'logging to rotating files, tempfile, shutil, os.walk, file locks',
    code: `
import fcntl, glob, logging, logging.handlers, os, shutil, tempfile
log = logging.getLogger("app"); log.addHandler(logging.handlers.RotatingFileHandler("app.log", maxBytes=100, backupCount=2))
for n in range(20): log.warning("message number %d", n)
print(sorted(glob.glob("app.log*")))
with tempfile.TemporaryDirectory() as folder:
    os.makedirs(f"{folder}/a/b"); open(f"{folder}/a/b/c", "w").close(); shutil.copytree(folder, "copied")
    shutil.make_archive("packed", "gztar", folder)
print([names for _, _, names in os.walk("copied")], os.path.exists(folder), shutil.which("sh") is not None)
with open("lock", "w") as first, open("lock", "w") as second:
    fcntl.flock(first, fcntl.LOCK_EX)
    try: fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: print("locked")
    fcntl.lockf(first, fcntl.LOCK_EX); print(shutil.disk_usage(".").total > 0)`,
    prints: "['app.log', 'app.log.1', 'app.log.2']\n[[], [], ['c']] False True\nlocked\nTrue\n",
  },
  {
    title: 'faulthandler, tracemalloc, cProfile, sys.excepthook',
    code: `
import cProfile, faulthandler, io, pstats, sys, tracemalloc
tracemalloc.start(); kept = bytearray(100_000); print(tracemalloc.get_traced_memory()[0] > 100_000); tracemalloc.stop()
profile = cProfile.Profile(); profile.runcall(sorted, range(1000)); print(pstats.Stats(profile, stream=io.StringIO()).total_calls > 0)
with open("trace", "w+") as file: faulthandler.dump_traceback(file); file.seek(0); print("most recent call first" in file.read())
sys.excepthook = lambda kind, error, trace: print("hooked", kind.__name__)
try: 1 / 0
except ZeroDivisionError: sys.excepthook(*sys.exc_info())
print("end")`,
    prints: 'True\nTrue\nTrue\nhooked ZeroDivisionError\nend\n',
  },
]
