/**
 * Version managers put a script at `python3`, which starts two dozen processes to find the interpreter. Every Lazaret and
 * every command asks it once, so tests find the interpreter itself first.
 */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'

/** The PATH of tests. */
export function pathWithOwnPython(): string | undefined {
  const { PATH: path } = process.env
  const toolchains = new Toolchains()
  const first = toolchains.fromPath('python3')
  const python = toolchains.python()
  if (first === null || python === null || realpathSync(first) === python.path) return path
  return `${dirname(python.path)}:${path}`
}
