/** What runs on each landing, as far as mutations depend on it. */
import { classify } from '../testing/plan/changes.ts'
import { planPasses } from '../testing/plan/passes.ts'

/** Whether a landing that changes `changed` runs this test file, as the user who starts it. */
export function runsOnLanding(testFile: string, changed: string): boolean {
  const change = { kind: classify([changed]), paths: [changed] }
  return planPasses({ run: 'ci', filters: [], isRoot: true, change }).some(
    ({ level, files }) => level === 'started' && files.includes(testFile),
  )
}
