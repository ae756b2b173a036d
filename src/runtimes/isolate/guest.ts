/**
 * The Node process of a worker. It creates isolates ahead, gives each program its own isolate, and disposes of it
 * afterwards. No guest code runs in the process's own realm. It creates isolates only after the answer has been sent and
 * while there is no new request.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { loadEngine } from './guest/engine.ts'
import { OneRun } from './guest/one-run.ts'
import type { Answer } from './guest/one-run.ts'
import { Stock } from './guest/stock.ts'
import { onMessage, send } from './guest/wire.ts'
import type { IsolateRequest, IsolatesPark } from './protocol.ts'

/** Leaves the process free for a request that follows at once. */
const refillDelayMs = 1

const engine = loadEngine(process.argv[2] ?? '')
let stock: Stock | undefined
let running: OneRun | undefined
let cancelRefill: () => void = () => undefined

onMessage((message) => {
  const { park, isolate } = message as Partial<IsolatesPark & IsolateRequest>
  if (park !== undefined) prepare(message as IsolatesPark)
  else if (isolate !== undefined) perform(message as IsolateRequest)
  else running?.answer(message as Answer)
})

function prepare({ memoryMiB, libraries }: IsolatesPark): void {
  const inside = readFileSync(join(import.meta.dirname, 'inside.js'), 'utf8')
  const own = new Stock(engine, inside, libraries)
  own.want({ memoryMiB, libraries: [] })
  own.refillOne()
  stock = own
  send('{"type":"parked"}')
  refillLater()
}

function perform(request: IsolateRequest): void {
  cancelRefill()
  if (stock === undefined) return
  const own = stock
  const { memoryMiB } = request.isolate
  const libraries = own.libraryNames.filter((name) => mentions(request.code, name))
  const prepared = own.take({ memoryMiB, libraries })
  const ready = own.waitingFor({ memoryMiB, libraries })
  running = new OneRun(request, { prepared, allowed: own.libraryNames, ready }, () => {
    running = undefined
    // In a later turn, because the program's own calls are still on the stack.
    systemClock.after(0, () => prepared.isolate.isDisposed || prepared.isolate.dispose())
    refillLater()
  })
  void running.start()
}

/** Whether a program may need the library. A wrong guess only costs time. */
function mentions(code: string, library: string): boolean {
  return code.includes(`'${library}'`) || code.includes(`"${library}"`)
}

/** Creates one isolate at a time, so that a request waits for at most one. */
function refillLater(): void {
  cancelRefill()
  cancelRefill = systemClock.after(refillDelayMs, () => {
    if (running === undefined && stock?.refillOne() === true) refillLater()
  })
}
