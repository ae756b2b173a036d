/** Coroutines at the top level and in the asyncio library. */
import type { PythonCase } from './case.ts'

export const asynchronous: readonly PythonCase[] = [
  {
    feature: 'await at the top level, as the value',
    code: 'import asyncio\nawait asyncio.sleep(0, "slept")',
    value: 'slept',
  },
  {
    feature: 'async for over an asynchronous generator',
    code: 'async def count():\n    for n in range(3):\n        yield n\nseen = []\nasync for n in count():\n    seen.append(n)\nelse:\n    seen.append("else")\nseen',
    value: [0, 1, 2, 'else'],
  },
  {
    feature: 'async with',
    code: 'class Door:\n    async def __aenter__(self): print("in"); return self\n    async def __aexit__(self, *error): print("out", error[0] is None)\nasync with Door() as door:\n    print("inside")',
    stdout: 'in\ninside\nout True\n',
  },
  {
    feature: 'asynchronous comprehensions',
    code: 'async def numbers():\n    for n in range(4): yield n\nasync def double(n): return n * 2\n[[n async for n in numbers() if n], {n: await double(n) for n in (1, 2)}, [await double(n) async for n in numbers()]]',
    value: [
      [1, 2, 3],
      {
        $type: 'Map',
        value: [
          [1, 2],
          [2, 4],
        ],
      },
      [0, 2, 4, 6],
    ],
  },
  {
    feature: 'await in a condition and in a call',
    code: 'import asyncio\nasync def yes(): return True\nif await yes():\n    print(await asyncio.sleep(0, "then"), await yes())',
    stdout: 'then True\n',
  },
  {
    feature: 'gather, in the order of its arguments',
    code: 'import asyncio\nasync def late(n):\n    await asyncio.sleep(0.01 / n)\n    print(n)\n    return n\nawait asyncio.gather(late(1), late(5))',
    stdout: '5\n1\n',
    value: [1, 5],
  },
  {
    feature: 'a task that the program leaves behind is cancelled',
    code: 'import asyncio\nasync def forever():\n    try:\n        await asyncio.sleep(3600)\n    except asyncio.CancelledError:\n        print("cancelled")\n        raise\ntask = asyncio.create_task(forever())\nawait asyncio.sleep(0)\n"end"',
    stdout: 'cancelled\n',
    value: 'end',
  },
  {
    feature: 'asyncio.run in a program without a top-level await',
    code: 'import asyncio\nasync def main():\n    return [await asyncio.sleep(0, n) for n in (1, 2)]\nasyncio.run(main())',
    value: [1, 2],
  },
  {
    feature: 'asyncio.run inside a running loop',
    code: 'import asyncio\nasync def main(): ...\nawait main()\nc = main()\ntry:\n    asyncio.run(c)\nexcept RuntimeError as error:\n    c.close()\n    print(error)',
    stdout: 'asyncio.run() cannot be called from a running event loop\n',
  },
  {
    feature: 'wait_for and its timeout',
    code: 'import asyncio\ntry:\n    await asyncio.wait_for(asyncio.sleep(3600), 0.01)\nexcept asyncio.TimeoutError:\n    print("timed out")',
    stdout: 'timed out\n',
  },
  {
    feature: 'queues, locks and events',
    code: 'import asyncio\nqueue, done = asyncio.Queue(), asyncio.Event()\nasync def work():\n    while (item := await queue.get()) is not None:\n        print(item)\n    done.set()\ntask = asyncio.create_task(work())\nfor item in ("a", "b", None):\n    await queue.put(item)\nawait done.wait()\nawait task',
    stdout: 'a\nb\n',
  },
  {
    feature: 'TaskGroup, and the group of its errors',
    since: [3, 11],
    code: 'import asyncio\nasync def fail(): raise ValueError("one")\ntry:\n    async with asyncio.TaskGroup() as group:\n        group.create_task(fail())\n        group.create_task(asyncio.sleep(3600))\nexcept* ValueError as errors:\n    print([str(error) for error in errors.exceptions])',
    stdout: "['one']\n",
  },
  {
    feature: 'asyncio.timeout',
    since: [3, 11],
    code: 'import asyncio\ntry:\n    async with asyncio.timeout(0.01):\n        await asyncio.sleep(3600)\nexcept TimeoutError as error:\n    print(type(error) is asyncio.TimeoutError)',
    stdout: 'True\n',
  },
  {
    feature: 'to_thread, and context variables in it',
    since: [3, 9],
    code: 'import asyncio, contextvars\nname = contextvars.ContextVar("name")\nname.set("outer")\nawait asyncio.to_thread(name.get)',
    value: 'outer',
  },
  {
    feature: 'asyncio subprocesses',
    code: 'import asyncio\nprocess = await asyncio.create_subprocess_exec("sh", "-c", "cat; exit 3", stdin=-1, stdout=-1)\nout, _ = await process.communicate(b"through a pipe")\n[out.decode(), process.returncode]',
    value: ['through a pipe', 3],
  },
  {
    feature: 'streams over a loopback connection',
    code: 'import asyncio\nasync def serve(reader, writer):\n    writer.write((await reader.readline()).upper())\n    await writer.drain()\n    writer.close()\nserver = await asyncio.start_server(serve, "127.0.0.1", 0)\nreader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())\nwriter.write(b"hello\\n")\nanswer = await reader.read()\nwriter.close()\nserver.close()\nanswer.decode()',
    value: 'HELLO\n',
  },
  {
    feature: 'an error in a coroutine that is awaited',
    code: 'async def inner():\n    raise LookupError("deep")\n\nasync def outer():\n    await inner()\n\nawait outer()',
    exitCode: 1,
    stderr:
      /^Traceback [^\n]*\n {2}File "<code>", line 7, in <module>\n.*line 5, in outer\n.*line 2, in inner\n.*LookupError: deep\n$/s,
    error: { name: 'LookupError', message: 'deep', line: 2 },
  },
  {
    feature: 'an exception of a task that nobody retrieved',
    code: 'import asyncio, gc\nasync def bad(): raise ValueError("lost")\nasync def main():\n    task = asyncio.create_task(bad())\n    await asyncio.sleep(0)\n    await asyncio.sleep(0)\nasyncio.run(main())',
    stderr:
      /^Task exception was never retrieved\n.*\n {2}File "<code>", line 2, in bad\n.*ValueError: lost\n$/s,
  },
  {
    feature: 'a coroutine that is never awaited',
    code: 'async def f(): pass\nf()\nNone',
    stderr: /^<code>:2: RuntimeWarning: coroutine 'f' was never awaited\n {2}f\(\)\n/,
  },
  {
    feature: 'SystemExit raised in a task',
    code: 'import asyncio, sys\nasync def leave(): sys.exit(4)\nawait asyncio.gather(leave(), return_exceptions=True)\nprint("not reached")',
    exitCode: 4,
  },
]
