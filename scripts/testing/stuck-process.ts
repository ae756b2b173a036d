/**
 * Loaded before the files of a test process: ends it if no test in it has started or ended for minutes. Node's runner reports
 * no later process before this one has ended, so a server that a failed test left open would cost the results of the pass.
 */
import { afterEach, beforeEach } from 'node:test'
import { stuckStatus } from './plan/processes.ts'

/** Longer than any test may take, and than any hook or the loading of a file takes. */
const stuckMs = Number(process.env['LAZARET_TESTS_STUCK_MS'] ?? 5 * 60_000)

const [, file = ''] = process.argv
const running = new Set<string>()
const timer = setTimeout(endProcess, stuckMs).unref()
beforeEach(({ name }) => {
  running.add(name)
  timer.refresh()
})
afterEach(({ name }) => {
  running.delete(name)
  timer.refresh()
})

function endProcess(): void {
  const tests = running.size === 0 ? 'no test was running' : `running: ${[...running].join(', ')}`
  process.stderr.write(
    `✖ ${file}: no test has started or ended for ${stuckMs / 1000} s; ${tests}; ` +
      `what keeps the process: ${process.getActiveResourcesInfo().join(', ') || 'nothing'}\n`,
  )
  process.exit(stuckStatus)
}
