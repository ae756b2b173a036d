/**
 * A connection through a network policy, compared with a direct one and one through the proxy of srt; the client is the
 * same.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

import { createLazaret } from '../../src/engine/lazaret.ts'
import { compare } from '../measure/compare.ts'
import type { Rival } from '../measure/compare.ts'
import type { BenchOptions } from '../options.ts'
import { openSrtProxy } from '../rivals/srt-proxy.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Table } from '../table.ts'
import { toolchains } from '../workloads.ts'

const streamMiB = 64
const title = 'through a network policy'

/** Sends as many MiB as the first line requests. A separate process, because the benchmark's own event loop is busy. */
const server = `
import socket, threading
listener = socket.create_server(('127.0.0.1', 0), backlog=64)
print(listener.getsockname()[1], flush=True)
block = memoryview(bytes(1 << 20))
def serve(one):
    with one:
        for _ in range(int(one.makefile().readline())): one.sendall(block)
        one.sendall(b'.')
while True: threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()`

/** Prints the milliseconds from before a connection to its last byte; without data, the median of five. */
const client = (target: number, proxy: number | undefined, mebibytes: number): string => `
import socket, time
buffer = bytearray(1 << 20)
def once():
    start = time.perf_counter()
    with socket.create_connection(('localhost', ${proxy ?? target})) as one:
        if ${proxy === undefined ? 'False' : 'True'}:
            one.sendall(b'CONNECT localhost:${target} HTTP/1.1\\r\\nHost: localhost:${target}\\r\\n\\r\\n')
            assert one.recv(4096).startswith(b'HTTP/1.1 200')
        one.sendall(b'${mebibytes}\\n')
        length = 0
        while count := one.recv_into(buffer): length += count
        assert length == (${mebibytes} << 20) + 1
    return 1000 * (time.perf_counter() - start)
once()
print(sorted(once() for _ in range(${mebibytes === 0 ? 5 : 1}))[${mebibytes === 0 ? 2 : 0}])`

export async function benchNetwork({ turns }: BenchOptions): Promise<Table[]> {
  const python = toolchains.python()?.path
  if (python === undefined) return [skippedTable(title, 'there is no Python on this machine.')]
  await using lazaret = createLazaret({ access: { networks: ['local-policy'] } })
  if ((await lazaret.probe()).level === 'restricted')
    return [skippedTable(title, 'a policy needs namespaces.')]
  const child = spawn(python, ['-c', server], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const target = Number(line.toString())
  const srt = await openSrtProxy()
  try {
    await using sandbox = await lazaret.sandbox({
      network: { allow: [`localhost:${target}`], bytesMax: Number.MAX_SAFE_INTEGER },
    })
    const outside = (proxy: number | undefined, mebibytes: number) => async () =>
      Number(execFileSync(python, ['-c', client(target, proxy, mebibytes)], { encoding: 'utf8' }))
    const inside = (mebibytes: number) => async () => {
      const { stdout, stderr } = await sandbox.exec('python3 -', {
        stdin: client(target, undefined, mebibytes),
      })
      const ms = Number(stdout)
      if (stdout === '' || Number.isNaN(ms)) throw new Error(`A turn ${title} failed: ${stderr}`)
      return ms
    }
    const rivals = (mebibytes: number): Rival[] => [
      { name: 'lazaret, policy', turn: inside(mebibytes) },
      { name: 'direct, no wall', turn: outside(undefined, mebibytes) },
      ...(typeof srt === 'string' ? [] : [{ name: 'proxy of srt', turn: outside(srt.port, mebibytes) }]),
    ]
    const notes = () => (typeof srt === 'string' ? [srt] : [])
    const p50 = (row: Table['rows'][number] | undefined) => row?.figures['p50'] ?? Number.NaN
    return [
      await compare({
        title: `a connection ${title}, to its first byte`,
        turns,
        rivals: rivals(0),
        notes,
        goals: ([ours, direct]) => [goalAtMost('p50 ≤ 1.5 ms over direct', p50(ours) - p50(direct), 1.5)],
      }),
      await compare({
        title: `${streamMiB} MiB ${title}`,
        turns: Math.ceil(turns / 3),
        rivals: rivals(streamMiB),
        notes,
        goals: ([ours, direct]) => [goalAtMost('p50 ≤ 2 × direct', p50(ours) / p50(direct), 2)],
      }),
    ]
  } finally {
    child.kill('SIGKILL')
    if (typeof srt !== 'string') await srt[Symbol.asyncDispose]()
  }
}
