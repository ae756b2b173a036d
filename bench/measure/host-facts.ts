/** The machine that the figures were measured on. */
import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

import { createLazaret } from '../../src/engine/lazaret.ts'
import { bubblewrap } from '../rivals/bubblewrap.ts'
import { toolchains } from '../workloads.ts'

export interface HostFacts {
  readonly processor: string
  /** The processors that this process may use. */
  readonly cores: number
  readonly memoryGiB: number
  readonly kernel: string
  readonly user: string
  /** The protection level of all of Lazaret's rows. */
  readonly protection: string
  /** Null for programs that are not installed. */
  readonly versions: Readonly<Record<'node' | 'bun' | 'python' | 'bubblewrap', string | null>>
  /** Over one minute, before the first measurement. */
  readonly loadBefore: number
}

export async function lookAtHost(): Promise<HostFacts> {
  const [loadBefore = 0] = loadavg()
  await using lazaret = createLazaret()
  const { level } = await lazaret.probe()
  return {
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    user: process.getuid?.() === 0 ? 'root' : 'a plain user',
    protection: level,
    versions: {
      node: process.versions.node,
      bun: versionOf(toolchains.bun()),
      python: toolchains.python()?.version ?? null,
      bubblewrap: versionOf(bubblewrap ?? null)?.replace(/^bubblewrap /, '') ?? null,
    },
    loadBefore,
  }
}

function versionOf(file: string | null): string | null {
  if (file === null) return null
  try {
    return execFileSync(file, ['--version'], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}
