/**
 * Loaded before the files of a test process: tells the runner when tests start and end, and after a silence what only the
 * process itself knows: the running tests, what keeps it alive, and who sets timers again and again.
 */
import { createHook } from 'node:async_hooks'
import { afterEach, beforeEach } from 'node:test'
import type { OwnNote } from './process-notes.ts'
import { patience } from './watch-processes.ts'

const { describeMs } = patience
/** How long timers are observed, because only those that are set meanwhile show where they come from. */
const observeMs = 1000
const stacksShownMax = 5

export function watchOwnTests(note: OwnNote, file: string): void {
  const running = new Set<string>()
  const timer = setTimeout(() => void describeSilence(), describeMs).unref()
  const happened = () => {
    note.touch()
    timer.refresh()
  }
  beforeEach(({ name }) => {
    running.add(name)
    happened()
  })
  afterEach(({ name }) => {
    running.delete(name)
    happened()
  })

  async function describeSilence(): Promise<void> {
    const stacks = await timersSet()
    const tests = running.size === 0 ? 'no test is running' : `running: ${[...running].join(', ')}`
    const kept = process.getActiveResourcesInfo().join(', ') || 'nothing'
    note.say(`✖ ${file} (process ${process.pid}): ${tests}; what keeps the process: ${kept}\n${stacks}`)
  }
}

/** Where timers are set now, the most frequent first. */
async function timersSet(): Promise<string> {
  const seen = new Map<string, number>()
  const hook = createHook({
    init(_id, type) {
      if (type !== 'Timeout' && type !== 'Immediate') return
      const [, ...lines] = (new Error().stack ?? '').split('\n')
      const stack = lines
        .filter((line) => !/node:|own-evidence/.test(line))
        .slice(0, 6)
        .join('\n')
      seen.set(stack, (seen.get(stack) ?? 0) + 1)
    },
  }).enable()
  await new Promise((resolve) => setTimeout(resolve, observeMs).unref())
  hook.disable()
  const most = [...seen].filter(([stack]) => stack !== '').toSorted(([, a], [, b]) => b - a)
  return most
    .slice(0, stacksShownMax)
    .map(([stack, count]) => `    ${count} timers in ${observeMs} ms from\n${stack}\n`)
    .join('')
}
