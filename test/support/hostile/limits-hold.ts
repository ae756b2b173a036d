/** Checks with a small, bounded program that a limit is enforced, before an attack relies on it. */
import { ampleMs } from '../patient-run.ts'
import type { TestLazaret } from '../use-lazaret.ts'
import { python } from '../use-lazaret.ts'

const code = `
import os, time
forked = 0
try:
    for _ in range(24):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        forked += 1
except OSError:
    pass
if forked > 7: time.sleep(2) # enough time for a periodic watchdog
print(forked)
`

/** Why a fork bomb must not run here, or false if the limit on processes is enforced. */
export async function processesLimitIsMissing({ run }: Pick<TestLazaret, 'run'>): Promise<string | false> {
  const { stdout, outcome, receipt } = await run({
    ...python,
    code,
    limits: { processesMax: 8, wallMs: ampleMs },
  })
  // A watchdog that counts periodically refuses no fork; it ends a guest above the limit.
  if (outcome.kind === 'limit-exceeded' && outcome.limit === 'processes') return false
  const forked = Number(stdout)
  if (forked >= 1 && forked <= 7) return false
  return `no layer holds the number of processes here (${receipt.limits.processesMax.by}: ${forked} forks with a limit of 8)`
}
