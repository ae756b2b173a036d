/**
 * Packages that programs will find loaded. Each is loaded as a program would load it that lies in the workspace, so that what
 * it asks for by the same name is there already. It is the operator's code.
 */
import type { GuestRequest } from '../channel/channel-protocol.ts'
import { compileProgram } from './modules/compile.ts'

/** Throws what is wrong with the first that cannot be loaded. */
export async function loadPackages(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const quoted = JSON.stringify(name)
    const failures: unknown[] = []
    // A package may have a module for each of the two.
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
