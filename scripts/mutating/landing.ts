/** What runs on each landing, as far as mutations depend on it. */
import { planPasses } from '../testing/plan/passes.ts'

let files: ReadonlySet<string> | undefined

/** Whether a landing that changes `changed` runs this test file. */
export function runsOnLanding(testFile: string, _changed: string): boolean {
  files ??= new Set(planPasses({ tier: 'daily', filters: [], isRoot: true }).flatMap((pass) => pass.files))
  return files.has(testFile)
}
