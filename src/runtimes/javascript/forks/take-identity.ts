/** The part of becoming a new process that engines share: a fork takes its own environment and process id. */
import type { ForkLibrary } from './zygote.ts'

export function takeIdentity({ environment, processId }: ForkLibrary): void {
  takeEnvironment(environment() ?? process.env)
  Object.defineProperty(process, 'pid', {
    value: processId(),
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

function takeEnvironment(environment: Readonly<NodeJS.ProcessEnv>): void {
  if (environment === process.env) return
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  for (const [name, value] of Object.entries(environment))
    if (process.env[name] !== value) process.env[name] = value
}

/** Each entry is `NAME=value`. */
export function readVariables(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=')
      return [entry.slice(0, at), entry.slice(at + 1)]
    }),
  )
}
