/** The processes with isolates, according to the host's /proc: only descendants of this process. */
import { readFileSync } from 'node:fs'

import { isDead, listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'

export function findWorkers(): HostProcess[] {
  return listDescendants(process.pid).filter(
    (one) => !isDead(one) && commandOf(one).includes('/harness-isolate/'),
  )
}

function commandOf({ pid }: HostProcess): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It has already ended.
    return ''
  }
}
