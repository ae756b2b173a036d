/** The library reference: streams, processes, threads, signals and the guest's environment. */
import { type PythonCase, bytes, tuple } from './case.ts'

const square = 'def square(x):\n    return x * x\n\n'

export const system: readonly PythonCase[] = [
  {
    feature: 'input(), sys.stdin and the end of it',
    code: 'import sys\nname = input("name? ")\nrest = sys.stdin.read()\ntry:\n    input()\nexcept EOFError as error:\n    print(error)\n[name, rest]',
    request: { stdin: 'Ada\nsecond\nthird' },
    stdout: 'name? EOF when reading a line\n',
    value: ['Ada', 'second\nthird'],
  },
  {
    feature: 'print with its options',
    code: 'import sys\nprint(1, "a", sep="-", end="!\\n", flush=True)\nprint("to stderr", file=sys.stderr)',
    stdout: '1-a!\n',
    stderr: 'to stderr\n',
  },
  {
    feature: 'encodings and binary streams',
    code: 'import sys\nsys.stdout.buffer.write("é".encode())\nsys.stdout.flush()\nsys.stdout.reconfigure(encoding="latin-1", errors="replace")\nprint("x€")\n[sys.stdin.encoding, sys.stderr.encoding, sys.getfilesystemencoding(), sys.stdout.encoding]',
    stdout: 'éx?\n',
    value: ['utf-8', 'utf-8', 'utf-8', 'latin-1'],
  },
  {
    feature: "redirect_stdout and a stdout of the program's own",
    code: 'import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as caught:\n    print("inside")\nprint("outside")\ncaught.getvalue()',
    stdout: 'outside\n',
    value: 'inside\n',
  },
  {
    feature: 'the environment of a guest',
    code: 'import os\nos.environ["NEW"] = "1"\n[os.environ["MINE"], os.environ.get("HOME"), os.popen("echo $NEW").read(), os.environ.get("USER")]',
    request: { env: { MINE: 'yes' } },
    value: ['yes', '/workspace', '1\n', 'guest'],
  },
  {
    feature: 'input_data',
    code: '[input_data["when"].year, bytes(input_data["blob"]), input_data["n"] + 1]',
    request: { input: { when: new Date('2026-01-31'), blob: new Uint8Array([1, 2]), n: 5n } },
    value: [2026, bytes('\u0001\u0002'), 6],
  },
  {
    feature: 'locale',
    code: 'import locale\n[locale.setlocale(locale.LC_ALL, ""), locale.getpreferredencoding().lower(), locale.format_string("%d", 1234567, grouping=True)]',
    value: ['C.UTF-8', 'utf-8', '1234567'],
  },
  {
    feature: 'subprocess with pipes and exit codes',
    code: 'import subprocess\ndone = subprocess.run("cat; echo err >&2; exit 3", shell=True, input="in", capture_output=True, text=True)\ntry:\n    subprocess.run(["false"], check=True)\nexcept subprocess.CalledProcessError as error:\n    print(error.returncode)\n[done.stdout, done.stderr, done.returncode]',
    stdout: '1\n',
    value: ['in', 'err\n', 3],
  },
  {
    feature: 'another interpreter with sys.executable',
    code: 'import subprocess, sys\nsubprocess.run([sys.executable, "-c", "import sys, helper; print(helper.name, sys.argv[1:])", "x"], capture_output=True, text=True).stdout',
    request: { files: { 'helper.py': 'name = "help"\n' } },
    value: "help ['x']\n",
  },
  {
    feature: 'threads, locks and thread-local data',
    code: 'import threading\nlocal, lock, total = threading.local(), threading.Lock(), 0\ndef work(n):\n    global total\n    local.n = n\n    with lock:\n        total += local.n\nthreads = [threading.Thread(target=work, args=(n,)) for n in range(5)]\nfor t in threads: t.start()\nfor t in threads: t.join()\n[total, hasattr(local, "n")]',
    value: [10, false],
  },
  {
    feature: 'a thread that outlives the main program is waited for',
    code: 'import threading\ngo = threading.Event()\ndef work():\n    go.wait()\n    print("thread ends")\nthreading.Thread(target=work).start()\nprint("main ends")\ngo.set()',
    stdout: 'main ends\nthread ends\n',
  },
  {
    feature: 'an uncaught exception in a thread',
    code: 'import threading\ndef work():\n    raise ValueError("in thread")\nt = threading.Thread(target=work, name="worker")\nt.start()\nt.join()\nprint("main goes on")',
    stdout: 'main goes on\n',
    stderr:
      /^Exception in thread worker:\nTraceback .*\n {2}File "<code>", line 3, in work\n {4}raise ValueError\("in thread"\)\n([ ^~]*\n)?ValueError: in thread\n$/,
  },
  {
    feature: 'an error that never came near the program is shown whole',
    code: 'import threading, json\nt = threading.Thread(target=json.loads, args=("{",))\nt.start()\nt.join()',
    stderr:
      /^Exception in thread .*:\nTraceback .*json\/decoder\.py", line \d+, in decode\n.*JSONDecodeError: Expecting/s,
  },
  {
    feature: 'SystemExit in a thread ends the thread alone',
    code: 'import threading, sys\nt = threading.Thread(target=sys.exit, args=(5,))\nt.start()\nt.join()\n"main"',
    value: 'main',
  },
  {
    feature: 'threading.excepthook of the program',
    code: 'import threading\nthreading.excepthook = lambda args: print(args.exc_type.__name__, args.thread.name)\nt = threading.Thread(target=lambda: [][1], name="w")\nt.start()\nt.join()',
    stdout: 'IndexError w\n',
  },
  {
    feature: 'concurrent.futures with threads',
    code: 'from concurrent.futures import ThreadPoolExecutor, as_completed\nwith ThreadPoolExecutor(3) as pool:\n    futures = [pool.submit(pow, 2, n) for n in range(4)]\n    bad = pool.submit(int, "x")\n[sorted(f.result() for f in as_completed(futures)), type(bad.exception()).__name__]',
    value: [[1, 2, 4, 8], 'ValueError'],
  },
  {
    feature: 'concurrent.futures with processes',
    code: `from concurrent.futures import ProcessPoolExecutor\n${square}if __name__ == "__main__":\n    with ProcessPoolExecutor(2) as pool:\n        print(list(pool.map(square, range(5))))`,
    stdout: '[0, 1, 4, 9, 16]\n',
  },
  {
    feature: 'multiprocessing with fork',
    code: `import multiprocessing as mp\n${square}with mp.get_context("fork").Pool(2) as pool:\n    result = pool.map(square, [1, 2, 3])\nresult`,
    value: [1, 4, 9],
  },
  {
    feature: 'multiprocessing with spawn, which runs the program anew',
    code: `import multiprocessing as mp\nprint("top of", __name__, input_data["n"])\n${square}if __name__ == "__main__":\n    context = mp.get_context("spawn")\n    with context.Pool(1) as pool:\n        print(pool.apply(square, (input_data["n"],)))`,
    request: { input: { n: 7 } },
    stdout: 'top of __main__ 7\ntop of __mp_main__ 7\n49\n',
  },
  {
    feature: 'multiprocessing with forkserver',
    code: `import multiprocessing as mp\n${square}def work(queue):\n    queue.put(square(5))\nif __name__ == "__main__":\n    context = mp.get_context("forkserver")\n    queue = context.Queue()\n    process = context.Process(target=work, args=(queue,))\n    process.start()\n    print(queue.get())\n    process.join()\n    print(process.exitcode)`,
    stdout: '25\n0\n',
  },
  {
    feature: 'an exception in a spawned process names the line of the program',
    code: 'import multiprocessing as mp\ndef fail():\n    raise ValueError("in child")\nif __name__ == "__main__":\n    process = mp.get_context("spawn").Process(target=fail)\n    process.start()\n    process.join()\n    print(process.exitcode)',
    stdout: '1\n',
    stderr:
      /^Process SpawnProcess-1:\nTraceback .*\n {2}File "<code>", line 3, in fail\n {4}raise ValueError\("in child"\)\n([ ^~]*\n)?ValueError: in child\n$/s,
  },
  {
    feature: 'spawn from a program with a top-level await',
    code: `import asyncio, multiprocessing as mp\nfrom concurrent.futures import ProcessPoolExecutor\n${square}await asyncio.sleep(0)\nif __name__ == "__main__":\n    with ProcessPoolExecutor(1, mp_context=mp.get_context("spawn")) as pool:\n        print(await asyncio.get_running_loop().run_in_executor(pool, square, 6))`,
    stdout: '36\n',
  },
  {
    feature: 'shared memory and managers',
    code: 'import multiprocessing as mp\nfrom multiprocessing import shared_memory\nblock = shared_memory.SharedMemory(create=True, size=4)\ncounter = mp.Value("i", 0)\ndef work():\n    block.buf[0] = 9\n    with counter.get_lock():\n        counter.value += 1\np = mp.get_context("fork").Process(target=work)\np.start()\np.join()\nseen = [block.buf[0], counter.value]\nblock.close()\nblock.unlink()\nseen',
    value: [9, 1],
  },
  {
    feature: 'os.fork and its exit status',
    code: 'import os\npid = os.fork()\nif pid == 0:\n    print("child", flush=True)\n    os._exit(3)\n_, status = os.waitpid(pid, 0)\nos.WEXITSTATUS(status)',
    stdout: 'child\n',
    value: 3,
  },
  {
    feature: 'signal handlers and timers',
    code: 'import signal\nseen = []\nsignal.signal(signal.SIGUSR1, lambda number, frame: seen.append(signal.Signals(number).name))\nsignal.raise_signal(signal.SIGUSR1)\nsignal.signal(signal.SIGALRM, lambda *_: seen.append("alarm"))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nsignal.pause()\nseen',
    value: ['SIGUSR1', 'alarm'],
  },
  {
    feature: 'sockets of the loopback interface and of the file system',
    code: 'import socket, threading\nserver = socket.create_server(("127.0.0.1", 0))\nclient = socket.create_connection(server.getsockname())\npeer, _ = server.accept()\nclient.sendall(b"tcp")\na, b = socket.socketpair()\na.sendall(b"unix")\nresult = [peer.recv(9).decode(), b.recv(9).decode()]\nfor each in (server, client, peer, a, b): each.close()\nresult',
    value: ['tcp', 'unix'],
  },
  {
    feature: 'ssl, lzma, bz2, curses and readline can be imported',
    code: 'import ssl, lzma, bz2, curses, readline, mmap, select, fcntl, uuid, secrets\n[bool(ssl.create_default_context()), lzma.decompress(lzma.compress(b"x")) == b"x", len(secrets.token_hex(4)), uuid.UUID(int=5).version]',
    value: [true, true, 8, null],
  },
  {
    feature: 'os.times, resource and os.cpu_count',
    code: 'import os, resource\n[os.cpu_count() > 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0, os.getpid() > 1, os.getuid() >= 1000]',
    value: [true, true, true, true],
  },
  {
    feature: 'PYTHON variables of the request',
    code: 'import sys\n[hash("text") == hash("text"), sys.flags.hash_randomization, sys.warnoptions, "/packages" in sys.path]',
    request: { env: { PYTHONHASHSEED: '0', PYTHONWARNINGS: 'error', PYTHONPATH: '/packages' } },
    value: [true, 0, ['error'], true],
  },
  {
    feature: 'a tuple of standard streams',
    code: 'import sys\n(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdin.fileno(), sys.stderr.fileno())',
    value: tuple(false, false, 0, 2),
  },
]
