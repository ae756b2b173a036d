/** Collects why files are missing: a bounded list, whatever guests do. */
import { type MissingFiles, type MissingReason, missingReasons } from '../../core/missing-files.ts'

const pathsMax = 10

export class MissingLog {
  readonly #found = new Map<MissingReason, { count: number; readonly paths: string[] }>()

  /** Without a path: files of which nothing is known. */
  add(reason: MissingReason, path?: string): void {
    const found = this.#found.get(reason) ?? { count: 0, paths: [] }
    this.#found.set(reason, found)
    if (path === undefined) return
    found.count++
    if (found.paths.length < pathsMax) found.paths.push(path)
  }

  get list(): MissingFiles[] {
    return missingReasons.flatMap((reason) => {
      const found = this.#found.get(reason)
      return found === undefined ? [] : [{ reason, ...found }]
    })
  }
}
