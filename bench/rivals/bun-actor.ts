/**
 * A typical actor without isolation, under Bun: for each message, `Bun.spawn` starts a Bun, which gets the code on
 * stdin and prints the answer. Usage: `bun bun-actor.ts <expected result> <code>`. It sends messages to itself; lines
 * on stdin say how many at one time, see bun-spawn.ts. `bun bun-actor.ts` alone is the worker.
 */
import { createInterface } from 'node:readline'

interface Subprocess {
  readonly stdin: { write(text: string): void; end(): void }
  readonly stdout: ReadableStream
  readonly exited: Promise<number>
}

declare const Bun: {
  spawn(command: string[], options: { stdin: 'pipe'; stdout: 'pipe'; stderr: 'ignore' }): Subprocess
}

interface Answer {
  readonly success: boolean
  readonly result?: unknown
  readonly logs: readonly string[]
}

const [script = '', expected, code] = process.argv.slice(1)
const wrongMax = 5

async function work(): Promise<void> {
  const message = JSON.parse(await new Response(process.stdin).text()) as {
    code: string
  }
  const logs: string[] = []
  console.log = (...values: unknown[]) => void logs.push(values.join(' '))
  // oxlint-disable-next-line no-eval -- what such actors do.
  const result: unknown = await (0, eval)(message.code)
  process.stdout.write(JSON.stringify({ success: true, result, logs }))
}

async function receive(text: string | undefined): Promise<Answer> {
  const child = Bun.spawn([process.execPath, script], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
  child.stdin.write(JSON.stringify({ code: text, language: 'javascript', timeout: 5000 }))
  child.stdin.end()
  const [answer] = await Promise.all([new Response(child.stdout).text(), child.exited])
  return JSON.parse(answer) as Answer
}

async function serve({ inFlight, ms }: { inFlight: number; ms: number }): Promise<object> {
  const times: number[] = []
  const wrong: string[] = []
  const startMs = performance.now()
  const keepBusy = async (): Promise<void> => {
    do {
      const start = performance.now()
      const { success, result } = await receive(code)
      if (success && String(result) === expected) times.push(performance.now() - start)
      else if (wrong.length < wrongMax) wrong.push(`answered ${String(result).slice(0, 100)}`)
    } while (performance.now() - startMs < ms)
  }
  await Promise.all(Array.from({ length: inFlight }, keepBusy))
  return { times, elapsedMs: performance.now() - startMs, wrong }
}

if (expected === undefined) await work()
else
  for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(
      `${JSON.stringify(await serve(JSON.parse(line) as { inFlight: number; ms: number }))}\n`,
    )
