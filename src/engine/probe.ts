/** Finds out what this machine offers: it builds a real cell and reads what the kernel reports about the guest. */
import { readlinkSync } from 'node:fs'
import { release, type } from 'node:os'

import { systemClock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { defaultLimits } from '../core/limits.ts'
import { isAtLeast } from '../core/protection.ts'
import { launcherPath, requireLauncher } from '../jail/launch/launcher-path.ts'
import type { WallRefused } from '../jail/launch/launch.ts'
import { hasView } from '../jail/view/source-facts.ts'
import type { Machine } from '../jail/machine/machine.ts'
import { describeLayers } from '../jail/layers/layers.ts'
import type { ProbeLauncher, ProbeLayer, ProbeReport, ProbeToolchain } from '../jail/machine/probe-report.ts'
import { describeSurroundings, lookAround } from '../jail/machine/surroundings.ts'
import type { Surroundings } from '../jail/machine/surroundings.ts'
import { limitMechanisms } from '../jail/limits/plan-limits.ts'
import { askVersion } from '../runtimes/packages/ask-interpreter.ts'
import { guestBind } from '../runtimes/packages/package-files.ts'
import { cellRuntimes } from '../runtimes/registry.ts'
import { runInCell } from '../runtimes/work/run-in-cell.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { shellRuntime } from '../runtimes/shell/host.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'
import { behindBestWall } from '../jail/machine/best-wall.ts'
import type { BestWall } from '../jail/machine/best-wall.ts'

/** The result of a trial cell, or why there was none. */
interface Trial {
  readonly layers: readonly string[]
  readonly observed: Readonly<Record<string, string>>
  readonly error?: LazaretError
}

export async function probeMachine(wall: BestWall, toolchains: Toolchains): Promise<ProbeReport> {
  const { machine, minimum } = wall
  const around = lookAround()
  const [trial, found] = await Promise.all([
    // The level that the machine reaches, whatever level is required.
    tryCell({ ...wall, minimum: isAtLeast(minimum, 'restricted') ? 'restricted' : minimum }, toolchains),
    describeToolchains(toolchains, around),
  ])
  const level = trial.error === undefined ? machine.level : 'none'
  return {
    level,
    minimum,
    meetsMinimum: isAtLeast(level, minimum),
    layers: describeWall(machine, trial, around),
    toolchains: found,
    launcher: describeLauncher(),
    kernel: `${type()} ${release()}`,
    facts: { ...trial.observed, ...describeMechanisms(machine), ...describeSurroundings(around) },
  }
}

async function tryCell(wall: BestWall, toolchains: Toolchains): Promise<Trial> {
  const request = { language: 'shell', code: ':' } as const
  try {
    const context = { machine: wall.machine, clock: systemClock, readable: [] }
    const end = await behindBestWall(wall, (place) => {
      const program = shellRuntime.prepare(request, defaultLimits, { toolchains, packages: {}, place })
      const task = {
        spec: request,
        handles: { signal: new AbortController().signal },
        limits: defaultLimits,
        program,
      }
      return runInCell(task, { ...context, place })
    })
    await end.cleaned
    return end.exit
  } catch (error) {
    if (!(error instanceof LazaretError)) throw error
    return { layers: [], observed: {}, error }
  }
}

function describeWall(
  machine: Machine,
  { layers, observed, error }: Trial,
  around: Surroundings,
): ProbeLayer[] {
  if (error !== undefined) {
    const meaning = 'No wall can be built here, so every run is refused.'
    return [{ name: 'cell', state: 'missing', observed: error.message, meaning, fix: error.hint }]
  }
  const { identity, cgroupVersion, cgroupRoad, cgroupReason, refusals } = machine
  const { refusedLowers, folders, etc } = machine.hostView
  const mountedOver = [...folders, ...etc].filter((path) => !hasView(path, identity))
  const seen = { layers, observed, hostNamespaces: hostNamespaces(observed), around }
  const rows = describeLayers({
    ...seen,
    identity,
    cgroupVersion,
    cgroupRoad,
    cgroupReason,
    refusedLowers,
    mountedOver,
  })
  if (refusals.length === 0) return rows
  // The owner of the inodes does not matter where guests see the host's own files.
  return [...refusals.map(describeRefusal), ...rows.filter(({ name }) => name !== 'own view')]
}

/** The host's own namespaces, of the guest's kinds. */
function hostNamespaces(observed: Trial['observed']): Record<string, string> {
  const told = Object.entries(observed).filter(([name, inside]) => name.startsWith('ns_') && inside !== '')
  const links = told.map(([name]) => name.slice('ns_'.length))
  return Object.fromEntries(links.map((link) => [link, readlinkSync(`/proc/self/ns/${link}`)]))
}

/** Why the level is not higher, and what to do about it. */
function describeRefusal({ message, hint, wall }: WallRefused): ProbeLayer {
  const stands = wall === 'landlock' ? 'none' : 'landlock'
  const meanings = {
    landlock:
      'Only Landlock and seccomp confine guests. They can see that other paths and processes exist, and what /proc shows of the machine. More of their limits are enforced by watchdogs.',
    none: 'Guests can read and write every file that their user id can, and reach every network that this machine can.',
  }
  return {
    name: stands === 'none' ? 'scopes' : 'namespaces',
    state: 'missing',
    observed: message,
    meaning: meanings[stands],
    fix: hint,
  }
}

function describeLauncher(): ProbeLauncher {
  try {
    return { path: requireLauncher(), state: 'ok' }
  } catch (error) {
    return { path: launcherPath(), state: 'missing', fix: (error as LazaretError).hint }
  }
}

function describeMechanisms(machine: Machine): Record<string, string> {
  const entries = Object.entries(limitMechanisms(machine))
  return Object.fromEntries(entries.map(([name, mechanism]) => [`limit_${name}`, mechanism]))
}

function describeToolchains(toolchains: Toolchains, around: Surroundings): Promise<ProbeToolchain[]> {
  return Promise.all(cellRuntimes.map((runtime) => describeToolchain(runtime, toolchains, around)))
}

async function describeToolchain(
  { name, toolchain }: Runtime,
  toolchains: Toolchains,
  around: Surroundings,
): Promise<ProbeToolchain> {
  const path = toolchain.find(toolchains)
  const fix = toolchains.explain(name) ?? toolchain.fix(around)
  if (path === null) return { name, state: 'missing', fix }
  const lack = name === 'shell' ? undefined : lackOfHarness()
  if (lack !== undefined) return { name, state: 'missing', path, fix: lack }
  try {
    const version = await askVersion(path, toolchain.version?.(toolchains))
    const because = toolchains.describe(name, { isOwnView: true })?.because
    return { name, state: 'ok', path, version, ...(because === undefined ? {} : { because }) }
  } catch {
    return { name, state: 'missing', path, fix: `${path} does not answer to --version. ${fix}` }
  }
}

/** Why there is no harness; shell needs none. */
function lackOfHarness(): string | undefined {
  try {
    guestBind()
    return undefined
  } catch (error) {
    if (error instanceof LazaretError) return `${error.message} ${error.hint}`
    throw error
  }
}
