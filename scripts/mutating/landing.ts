/** Which tests run before a landing, for a change of one file. */
import { classify } from '../testing/plan/changes.ts'
import { planPasses } from '../testing/plan/passes.ts'

const filesByChange = new Map<string, ReadonlySet<string>>()

/** Whether a landing that changes `changed` runs this test file, as the user who starts it. */
export function runsOnLanding(testFile: string, changed: string): boolean {
  const files = filesByChange.get(changed) ?? filesFor(changed)
  filesByChange.set(changed, files)
  return files.has(testFile)
}

function filesFor(changed: string): ReadonlySet<string> {
  const change = { kind: classify([changed]), paths: [changed] }
  const passes = planPasses({ run: 'ci', filters: [], isRoot: process.getuid?.() === 0, change })
  return new Set(passes.filter(({ level }) => level === 'started').flatMap(({ files }) => files))
}
