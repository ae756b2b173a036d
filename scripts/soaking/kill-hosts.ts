/**
 * Kills a host process with SIGKILL during a soak, repeatedly, at random moments. Within a second nothing of it may be
 * alive; the next host removes what only a living host can.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { takenBlocks } from '../../test/support/machine/taken-blocks.ts'
import { AdoptedHost, compileAdopt } from '../../test/support/hosts/adopted-host.ts'
import {
  deadMs,
  describeProcess,
  groupsOf,
  listCellMounts,
  listRunFiles,
  listTree,
  listUnswept,
  untilAlone,
} from '../../test/support/hosts/dead-hosts.ts'
import { eventually } from '../../test/support/eventually.ts'
import { listCgroups } from '../../test/support/machine/leaks.ts'
import { isDead, listProcesses, readCgroups } from '../../test/support/machine/processes.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { compileWithout } from '../../test/support/hosts/without-layer.ts'
import type { Lacking } from '../../test/support/hosts/without-layer.ts'
import { uidRange } from './soak.ts'

export interface KillPlan {
  readonly times: number
  readonly inFlight: number
  readonly seed: number
  readonly cold: boolean
  readonly restricted: boolean
  readonly onDeath: (line: string) => void
}

export interface Death {
  /** From the host's first answers to its death. */
  readonly afterMs: number
  /** How many processes it had at that moment. */
  readonly processes: number
  /** The time until the last of them had ended. */
  readonly aloneMs: number
}

export interface KillReport {
  readonly seed: number
  readonly deaths: readonly Death[]
  readonly problems: readonly string[]
}

/** The longest work before a host is killed. Cells live for up to a second, so hosts die at every stage of a cell. */
const workMsMax = 3000
/** Root also loses CAP_SYS_ADMIN, with which it could create namespaces without a user namespace. */
export function withoutNamespaces(): readonly Lacking[] {
  return process.getuid?.() === 0 ? ['user-namespaces', 'sys-admin'] : ['user-namespaces']
}

export async function killHosts(plan: KillPlan): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-kill-'))
  const temporary = join(folder, 'temporary')
  chmodSync(folder, 0o755)
  mkdirSync(temporary)
  chmodSync(temporary, 0o1777)
  try {
    return await killEach(plan, { adopt: compileAdopt(folder), folder, temporary })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Ground {
  readonly adopt: string
  readonly folder: string
  /** TMPDIR of the hosts. */
  readonly temporary: string
}

async function killEach(plan: KillPlan, ground: Ground): Promise<KillReport> {
  const random = seededRandom(plan.seed)
  const prefix = plan.restricted ? [compileWithout(ground.folder), ...withoutNamespaces(), '--'] : []
  const mounts = listCellMounts()
  const dead: number[] = []
  const deaths: Death[] = []
  const problems: string[] = []
  const start = (number: number) =>
    new AdoptedHost({
      adopt: ground.adopt,
      program: mortalSoak({ ...plan, seed: plan.seed + number }),
      folder: ground.temporary,
      prefix,
    })
  for (let number = 0; number <= plan.times; number++) {
    await using host = start(number)
    const pid = await host.pid
    await host.ready
    // By now it has created a Lazaret, which has swept.
    problems.push(...listUnswept(dead, ground.temporary).map((path) => `not swept by the next host: ${path}`))
    if (number === plan.times) {
      problems.push(...(await endInOrder(host, pid, ground)))
      break
    }
    const afterMs = Math.round(random() * workMsMax)
    await pause(afterMs)
    const processes = listTree(pid).length + 1
    host.kill()
    try {
      const aloneMs = await untilAlone(host)
      deaths.push({ afterMs, processes, aloneMs })
      plan.onDeath(
        `${number + 1}: killed after ${afterMs} ms with ${processes} processes, alone after ${aloneMs.toFixed(1)} ms`,
      )
      await eventually(() => describeLeft(pid, { mounts, ...ground }), deadMs)
    } catch (error) {
      problems.push((error as Error).message)
    }
    problems.push(...host.news.map(({ why }) => why ?? 'wrong'))
    dead.push(pid)
  }
  return { seed: plan.seed, deaths, problems }
}

function mortalSoak({ seed, inFlight, cold }: KillPlan): string[] {
  const { first, count } = uidRange
  const file = join(import.meta.dirname, 'mortal-soak.ts')
  return [file, ...[seed, inFlight, first, count].map(String), cold ? 'cold' : 'warm']
}

/** What is left of a host, except its empty cgroups and folders, which the next host removes. */
function describeLeft(
  pid: number,
  { temporary, mounts }: Ground & { mounts: readonly string[] },
): string | undefined {
  const members = listProcesses().filter((one) => groupsOf(pid).test(readCgroups(one.pid)) && !isDead(one))
  const left = [
    ...members.map(describeProcess),
    ...listRunFiles(pid, temporary),
    ...takenBlocks(uidRange).map((id) => `host ids from ${id}`),
    ...listCellMounts().filter((line) => !mounts.includes(line)),
  ]
  return left.length === 0 ? undefined : left.join(', ')
}

/** Ends the last host with a signal: it must leave nothing at all. */
async function endInOrder(host: AdoptedHost, pid: number, { temporary }: Ground): Promise<string[]> {
  host.stop()
  await host.alone
  return [
    ...(host.status === 0 ? [] : [`the host that was told to end ended with status ${host.status}`]),
    ...host.news.map(({ why }) => why ?? 'wrong'),
    ...[...listCgroups(groupsOf(pid)), ...readdirSync(temporary)].map((path) => `left at the end: ${path}`),
  ]
}
