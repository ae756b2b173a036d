/** Which files of a pass share a process. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { classOf } from './test-class.ts'
import { readTimings } from './timings.ts'
import type { Sharing } from '../shared-process.ts'
import type { TestClass } from './test-class.ts'

/** An argument of `node --test`: a test file, or a file that runs several test files in its process. */
export interface PlannedProcess {
  /** Set if several files share the process. */
  readonly group?: { readonly name: string; readonly sharing: Sharing }
  readonly files: readonly string[]
}

/** Enough processes to keep both processors busy to the end, and so few that their start takes little time. */
const groupsOf = { pure: 2, shared: 4, 'by turns': 8 }
/** A file that was never measured. */
const unknownMs = 1000
const sharingOf = { pure: 'nothing', shared: 'Lazaret', 'by turns': 'process' } as const

export function planProcesses(files: readonly string[]): PlannedProcess[] {
  const those = (wanted: TestClass) => files.filter((file) => classOf(file) === wanted)
  return [
    ...divide('by turns', those('by turns')),
    ...divide('shared', those('shared')),
    ...divide('pure', those('pure')),
    ...those('alone').map((file) => ({ files: [file] })),
  ]
}

/** Each file goes to the group with the least work so far, the longest files first, so that all groups end at a similar time. */
function divide(name: keyof typeof groupsOf, files: readonly string[]): PlannedProcess[] {
  const timings = readTimings()
  const groups = Array.from({ length: Math.min(groupsOf[name], files.length) }, () => ({
    ms: 0,
    files: [] as string[],
  }))
  const costMs = (file: string) => timings[file]?.ms ?? unknownMs
  for (const file of files.toSorted((a, b) => costMs(b) - costMs(a))) {
    const least = groups.reduce((one, other) => (other.ms < one.ms ? other : one))
    least.ms += costMs(file)
    least.files.push(file)
  }
  const sharing = sharingOf[name]
  return groups.map(({ files: some }, number) => ({
    group: { name: `${name.replace(' ', '-')}-${number + 1}`, sharing } as const,
    files: some,
  }))
}

/** Paths for `node --test`, which runs in the checkout `root`. */
export function writeProcesses(
  processes: readonly PlannedProcess[],
  { folder, root }: { readonly folder: string; readonly root: string },
): string[] {
  return processes.map(({ group, files }) => {
    if (group === undefined) return files[0] ?? ''
    const path = join(folder, `${group.name}${groupEnding}`)
    writeFileSync(path, programOf(files, group.sharing, root))
    return path
  })
}

/** The ending of the name of a file that runs several test files. */
export const groupEnding = '.group.mjs'

function programOf(files: readonly string[], sharing: Sharing, root: string): string {
  const runner = join(root, 'scripts/testing/shared-process.ts')
  return `import { testTogether } from ${JSON.stringify(runner)}
await testTogether(${JSON.stringify(files, null, 2)}, ${JSON.stringify(sharing)})
`
}
