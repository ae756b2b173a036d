/** The profiles for containers: what they add to Docker's, and that cells really work under them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'

import { toOciProfile, widenDockerProfile } from '../../scripts/profiles/seccomp.ts'
import type { DockerProfile, OciProfile, SeccompRule } from '../../scripts/profiles/seccomp.ts'
import { launcherPath } from '../../src/jail/launch/launcher-path.ts'
import type { ProbeReport } from '../../src/jail/machine/probe-report.ts'
import { checkoutRoot, readText } from '../support/sources/checkout.ts'
import { WithoutLayers } from '../support/hosts/without-layer.ts'
import { compileProfile, rulesInForce } from './compile-profile.ts'

const execute = promisify(execFile)
const readProfile = (name: string) => JSON.parse(readText(`profiles/${name}`)) as unknown
const original = readProfile('docker/moby-default.json') as DockerProfile
const ours = readProfile('docker/seccomp.json') as DockerProfile
const oci = readProfile('kubernetes/seccomp.json') as OciProfile

const without = new WithoutLayers()
after(() => without[Symbol.dispose]())

const isRoot = process.getuid?.() === 0
const plainUserId = 65_533
const userId = isRoot ? plainUserId : undefined
const cli = [process.execPath, join(checkoutRoot, 'dist/adapters/cli/main.js')]

const allowedAlways = (rules: readonly SeccompRule[]) =>
  new Set(
    rules
      .filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && args === undefined)
      .flatMap(({ names }) => names),
  )

test('the profiles are what the script generates from Docker’s own', () => {
  assert.deepEqual(ours, JSON.parse(JSON.stringify(widenDockerProfile(original))))
  assert.deepEqual(oci, JSON.parse(JSON.stringify(toOciProfile(ours))))
})

test('beyond Docker’s default an unprivileged container gets these calls, and nothing else changes', () => {
  const before = allowedAlways(rulesInForce(original))
  const added = [...allowedAlways(rulesInForce(ours))].filter((name) => !before.has(name)).toSorted()
  assert.deepEqual(
    added,
    'clone3 fsconfig fsmount fsopen mount mount_setattr move_mount open_tree pivot_root sethostname umount2'.split(
      ' ',
    ),
  )
  const others = (profile: DockerProfile) =>
    profile.syscalls.filter(({ comment }) => comment?.startsWith('lazaret:') !== true)
  const removed = others(original).filter(
    (rule) => !others(ours).some((kept) => JSON.stringify(kept) === JSON.stringify(rule)),
  )
  assert.deepEqual(
    removed.map(({ names, action }) => [names, action]),
    [[['clone3'], 'SCMP_ACT_ERRNO']],
  )
  const limited = ours.syscalls.filter(
    ({ comment, args }) => comment?.startsWith('lazaret:') === true && args !== undefined,
  )
  assert.deepEqual(
    limited.map(({ names, args }) => [names, args?.[0]?.value]),
    [[['unshare'], 0x0200_0000]],
  )
})

test('the profile for Kubernetes has no conditions that it would ignore, and allows the same calls', () => {
  assert.ok(oci.syscalls.every((rule) => rule.includes === undefined && rule.excludes === undefined))
  const inDocker = allowedAlways(rulesInForce(ours))
  const inPod = allowedAlways(oci.syscalls)
  const ofOthers = [
    'arm_fadvise64_64',
    'arm_sync_file_range',
    'sync_file_range2',
    'breakpoint',
    'cacheflush',
    'set_tls',
  ]
  const here = (names: Set<string>) =>
    [...names]
      .filter((name) => !ofOthers.includes(name) && !/^(arch_prctl|modify_ldt)$/.test(name))
      .toSorted()
  assert.deepEqual(here(inPod), here(inDocker))
  for (const name of ['bpf', 'setns', 'fspick', 'perf_event_open', 'reboot'])
    assert.ok(!inPod.has(name), name)
})

const noTracer = existsSync('/usr/bin/strace') ? false : 'strace is not installed'

test(
  'every call with which the launcher builds a cell is allowed by the profile',
  { skip: noTracer },
  async (context) => {
    const trace = join(without.folder, 'trace')
    await execute('strace', ['-f', '-qq', '-o', trace, ...cli, 'run', '-l', 'shell', '-e', ':'])
    const calls = callsOfLauncher(readFileSync(trace, 'latin1'))
    for (const name of ['clone3', 'pivot_root', 'open_tree', 'unshare', 'landlock_restrict_self', 'chroot'])
      assert.ok(calls.has(name), `${name} is missing in what was traced`)
    const rules = rulesInForce(ours)
    const allowed = new Set(rules.flatMap(({ names, action }) => (action === 'SCMP_ACT_ALLOW' ? names : [])))
    context.diagnostic(`${calls.size} different calls`)
    assert.deepEqual(
      [...calls].filter((name) => !allowed.has(name)),
      [],
    )
  },
)

/**
 * The system calls of the launcher's processes: the process that executes it, and all that no process of the host has
 * started.
 */
function callsOfLauncher(trace: string): Set<string> {
  const host = new Set<string>()
  const guests = new Set<string>()
  const calls = new Set<string>()
  let launcher: string | undefined
  for (const line of trace.split('\n')) {
    const [, pid = '', name] = /^(\d+) +(?:<\.\.\. )?(\w+)(?:\(| resumed>)/.exec(line) ?? []
    if (name === undefined) continue
    if (host.size === 0) host.add(pid)
    const child = /(?:clone3?|v?fork)\b.* = (\d+)$/.exec(line)?.[1]
    // A parent that waits for its child's execve continues only after it.
    if (host.has(pid) && child !== undefined && child !== launcher) host.add(child)
    if (line.includes(`execve("${launcherPath()}"`)) {
      launcher = pid
      host.delete(pid)
    } else if (!host.has(pid) && launcher !== undefined && !guests.has(pid)) {
      calls.add(name)
      if (name === 'execve' && pid !== launcher) guests.add(pid)
    }
  }
  return calls
}

for (const [name, profile, isEnough] of [
  ['Docker’s default profile', original, false],
  ['our profile', ours, true],
] as const) {
  test(`an ordinary user ${isEnough ? 'has' : 'has no'} namespaces under ${name}`, async () => {
    const filter = join(without.folder, `filter-${isEnough}`)
    writeFileSync(filter, compileProfile(profile), { mode: 0o644 })
    const { stdout, stderr } = await without.run(
      [`filter=${filter}`, 'sys-admin'],
      [...cli, 'doctor', '--json'],
      { userId },
    )
    assert.equal(stderr, '')
    const report = JSON.parse(stdout) as ProbeReport
    assert.equal(report.level === 'standard', isEnough, stdout)
    if (!isEnough) assert.match(stdout, /profiles\/docker\/seccomp\.json/)
  })
}
