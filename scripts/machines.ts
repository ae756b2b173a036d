/**
 * `npm run machines -- [names]`: installs the packed package on real systems, emulated, and checks that each reaches the
 * level that the documentation promises. Without names: all of scripts/machines/table.ts. `-- shell NAME` gives a shell.
 * Needs root, `debootstrap`, `qemu-system-x86` and `openssh-client`. Systems are kept in $LAZARET_MACHINES, else in the
 * user's cache folder. Build first: the present build is packed.
 */
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'

import { cacheFolder, imageOf, makeApp } from './machines/images.ts'
import type { Findings } from './machines/inside.ts'
import { BootedMachine } from './machines/machine.ts'
import { cells, systems } from './machines/table.ts'
import type { Cell } from './machines/table.ts'

/** A second each: a killed host's cells and scopes need a moment to end. */
const leftoverTries = 20

const words = process.argv.slice(2)
if (words.includes('--help')) {
  process.stdout.write(`npm run machines -- [shell] [${Object.keys(cells).join(' | ')}]\n`)
  process.exit()
}
const wantsShell = words[0] === 'shell'
const names = wantsShell ? words.slice(1, 2) : words.length > 0 ? words : Object.keys(cells)
const unknown = names.filter((name) => cells[name] === undefined)
if (names.length === 0 || unknown.length > 0) {
  process.stderr.write(`Machines: ${Object.keys(cells).join(', ')}; not ${unknown.join(', ')}.\n`)
  process.exit(2)
}

process.stderr.write(`Systems are kept in ${cacheFolder}.\n`)
const app = makeApp()
try {
  for (const system of new Set(names.map((name) => (cells[name] as Cell).system))) {
    await using machine = await BootedMachine.boot(imageOf(system, systems[system]), app)
    const here = names.filter((name) => cells[name]?.system === system)
    if (wantsShell) await machine.shell((cells[here[0] as string] as Cell).user)
    else for (const name of here) report(name, await check(machine, cells[name] as Cell))
  }
} finally {
  rmSync(dirname(app), { recursive: true })
}

interface Verdict {
  readonly level: string
  readonly cgroups: string
  readonly faults: readonly string[]
}

async function check(machine: BootedMachine, cell: Cell): Promise<Verdict> {
  const library = '/opt/app/node_modules/lazaret/dist/index.js'
  const said = await machine.ask(cell.user, `${cell.wrapper} /opt/app/node /opt/app/inside.ts ${library}`)
  let found: Findings
  try {
    found = JSON.parse(said) as Findings
  } catch {
    return { level: '?', cgroups: '?', faults: [`it printed ${JSON.stringify(said.slice(0, 300))}`] }
  }
  const { level, cgroups } = found
  const faults = [...found.faults]
  if (level !== cell.level) faults.push(`${level} instead of ${cell.level}`)
  if (cell.cgroups?.test(cgroups) === false) faults.push(`cgroups: ${cgroups}`)
  const left = await findLeftovers(machine)
  if (left !== '') faults.push(`left behind: ${left}`)
  return { level, cgroups, faults }
}

async function findLeftovers(machine: BootedMachine): Promise<string> {
  let left = ''
  for (let tries = 0; tries < leftoverTries; tries++) {
    left = (await machine.ask('root', "find /sys/fs/cgroup -name 'lazaret-*'; pgrep -x -a cell")).trim()
    if (left === '') return left
    await setTimeout(1000)
  }
  return left
}

function report(name: string, { level, cgroups, faults }: Verdict): void {
  const mark = faults.length === 0 ? 'ok' : 'FAULT'
  process.stdout.write(
    [mark.padEnd(6), name.padEnd(22), level.padEnd(11), cgroups].join(' ').trimEnd() + '\n',
  )
  for (const fault of faults) process.stdout.write(`       ${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}
