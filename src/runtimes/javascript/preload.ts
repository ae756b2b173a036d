/**
 * Loads packages ahead of runs. Each is loaded in the same way as by a program in the workspace, so that the program finds it
 * in the module cache. The packages are code of the operator.
 */
import type { GuestRequest } from '../channel/channel-protocol.ts'
import { compileProgram } from './modules/compile.ts'

/** Throws the reason for the first package that cannot be loaded. */
export async function loadPackages(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const quoted = JSON.stringify(name)
    const failures: unknown[] = []
    // A package may have different modules for `require` and `import`.
    for (const code of [`require(${quoted})`, `await import(${quoted})`]) {
      try {
        await evaluate(code)
      } catch (thrown) {
        failures.push(thrown)
      }
    }
    if (failures.length > 1) throw new Error(`${name}: ${String(failures[0])}`)
  }
}

async function evaluate(code: string): Promise<unknown> {
  const request: GuestRequest = { language: 'javascript', code, args: [], resultBytes: 0 }
  return (await compileProgram(request)).start()
}
