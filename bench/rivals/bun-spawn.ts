/**
 * Usage: `bun bun-spawn.ts <expected output> <program> [arguments]`. For each line {inFlight, ms} on stdin it
 * keeps that many runs in flight for that time. Each is a `Bun.spawn` with its output read to the end. It answers with one
 * line {times, elapsedMs, wrong}.
 */
import { createInterface } from 'node:readline'

interface Subprocess {
  readonly stdout: ReadableStream
  readonly stderr: ReadableStream
  readonly exited: Promise<number>
}

declare const Bun: {
  spawn(command: string[], options: { stdin: 'ignore'; stdout: 'pipe'; stderr: 'pipe' }): Subprocess
}

const [expected, ...command] = process.argv.slice(2)
const wrongMax = 5

for await (const line of createInterface({ input: process.stdin })) {
  const { inFlight, ms } = JSON.parse(line) as { inFlight: number; ms: number }
  const times: number[] = []
  const wrong: string[] = []
  const startMs = performance.now()
  const keepBusy = async (): Promise<void> => {
    do {
      const start = performance.now()
      const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
      const [text, , code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      if (code === 0 && text.trim() === expected) times.push(performance.now() - start)
      else if (wrong.length < wrongMax) wrong.push(`exit code ${code}, printed ${text.slice(0, 100)}`)
    } while (performance.now() - startMs < ms)
  }
  await Promise.all(Array.from({ length: inFlight }, keepBusy))
  process.stdout.write(`${JSON.stringify({ times, elapsedMs: performance.now() - startMs, wrong })}\n`)
}
