/** The packages that tests of environments install, and the reasons to skip these tests. */
import { spawnSync } from 'node:child_process'

import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'

const python = new Toolchains().python()
const answers = (program: string, words: readonly string[]): boolean =>
  spawnSync(program, words, { cwd: '/', stdio: 'ignore' }).status === 0

const hasPip = python !== null && answers(python.path, ['-m', 'pip', '--version'])
export const withoutPip = hasPip ? false : 'pip for the Python of guests is not installed'
export const withoutNpm = answers('npm', ['--version']) ? false : 'npm is not installed'

export const pricing = { name: 'pricing', version: '1.2.0' } as const
export const greeting = { name: 'greeting', version: '3.0.1' } as const
