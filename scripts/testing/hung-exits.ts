/**
 * Ends test processes that hang at their exit: the main thread waits for a thread of V8, which waits for a garbage collection
 * by the main thread (nodejs/node#54918). Nothing inside such a process can end it, so each notes that it exits, and the
 * runner looks whether it is still there.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folderVariable = 'LAZARET_TESTS_EXITS'

/** The variable by which test processes find the folder. */
export const exitsVariable = (folder: string): Record<string, string> => ({ [folderVariable]: folder })

/** Called in each test process. */
export function noteExit(): void {
  const folder = process.env[folderVariable]
  if (folder === undefined) return
  const started = startOf(process.pid) ?? ''
  process.once('exit', () => writeFileSync(join(folder, String(process.pid)), started))
}

/** Longer than what tests do in listeners of `exit`. */
const hungMs = 30_000
const lookEveryMs = 5000

/** Returns what stops it. */
export function endHungExits(folder: string, { afterMs = hungMs, everyMs = lookEveryMs } = {}): () => void {
  const timer = setInterval(() => {
    for (const name of readdirSync(folder)) {
      const [note, pid] = [join(folder, name), Number(name)]
      const started = readFileSync(note, 'utf8')
      if (started === '') continue // it is being written
      const isAlive = startOf(pid) === started
      if (isAlive && Date.now() - statSync(note).mtimeMs < afterMs) continue
      rmSync(note)
      if (!isAlive) continue
      process.stdout.write(`✖ process ${pid} hung at its exit, and was ended\n`)
      process.kill(pid, 'SIGKILL')
    }
  }, everyMs)
  return () => clearInterval(timer)
}

/** When a process started, which distinguishes it from later ones with its id: field 22 of /proc/pid/stat, see proc(5). */
function startOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
  } catch {
    return undefined // it has ended
  }
}
