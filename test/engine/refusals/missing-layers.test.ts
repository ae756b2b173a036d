/**
 * Machines that really lack a layer: the kernel refuses it to a whole process tree (without/main.c). Doctor must report
 * what is missing and how to get it, and below the minimum level nothing may run.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { ProtectionLevel } from '../../../src/core/protection.ts'
import { lookAround } from '../../../src/jail/machine/surroundings.ts'
import type { ProbeReport } from '../../../src/jail/machine/probe-report.ts'
import type { RunResult } from '../../../src/index.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { WithoutLayers } from '../../support/hosts/without-layer.ts'
import type { Lacking } from '../../support/hosts/without-layer.ts'

const without = new WithoutLayers()
after(() => without[Symbol.dispose]())

const cli = [process.execPath, join(checkoutRoot, 'dist/adapters/cli/main.js')]
const isRoot = process.getuid?.() === 0
const notRoot = isRoot ? false : 'only root has ids to give away'
const plainUserId = 65_533
const userIds = { root: undefined, 'an ordinary user': isRoot ? plainUserId : undefined }
type Who = keyof typeof userIds

const inContainerAlready = lookAround().container !== null
const hostCount = readFileSync('/proc/sys/user/max_user_namespaces', 'utf8')

interface Case {
  readonly name: string
  readonly lacking: readonly Lacking[]
  readonly env?: Record<string, string>
  /** The level that is left. */
  readonly left: ProtectionLevel
  /** The layer that the report describes. */
  readonly layer: string
  readonly state?: 'weaker' | 'missing'
  readonly fix: RegExp
  /** Who starts it; both if absent. */
  readonly only?: Who
  /** In a container the advice differs. */
  readonly outsideContainers?: true
}

const inContainer = { name: 'namespaces', left: 'restricted', layer: 'namespaces' } as const
const cases: readonly Case[] = [
  {
    ...inContainer,
    name: 'user namespaces, by a seccomp filter',
    outsideContainers: true,
    lacking: ['user-namespaces'],
    fix: /RestrictNamespaces=[^]*docker run --user 1000:1000[^]*profiles\/docker\/seccomp\.json/,
    only: 'an ordinary user',
  },
  {
    ...inContainer,
    name: 'user namespaces, in a container',
    lacking: ['user-namespaces', 'podman:no'],
    fix: /Start the container without --privileged, but with:\n {2}docker run/,
    only: 'an ordinary user',
  },
  {
    ...inContainer,
    name: 'user namespaces, in a pod',
    lacking: ['user-namespaces', 'podman:no'],
    env: { KUBERNETES_SERVICE_HOST: '192.0.2.1' },
    fix: /docs\/operate\/deployment\.md.*`seccompProfile`.*`hostUsers`/,
    only: 'an ordinary user',
  },
  {
    ...inContainer,
    name: 'CAP_SYS_ADMIN, as root in a container',
    lacking: ['user-namespaces', 'sys-admin'],
    fix: /root without CAP_SYS_ADMIN[^]*--user 1000:1000/,
    only: 'root',
  },
  {
    ...inContainer,
    name: 'user namespaces, because their number is limited to 0',
    lacking: ['user-namespaces-beyond=0'],
    fix: /`user\.max_user_namespaces` is 0\.[^]*\n {2}echo 'user\.max_user_namespaces = 15000' \| sudo tee/,
  },
  {
    ...inContainer,
    name: 'user namespaces of ordinary users, by Debian’s sysctl',
    lacking: ['user-namespaces', 'sysctl:kernel.unprivileged_userns_clone=0'],
    fix: /root only here[^]*echo 'kernel\.unprivileged_userns_clone = 1'/,
    only: 'an ordinary user',
  },
  {
    ...inContainer,
    name: 'capabilities in user namespaces of ordinary users, by Ubuntu’s AppArmor',
    outsideContainers: true,
    lacking: ['mounts', 'sysctl:kernel.apparmor_restrict_unprivileged_userns=1'],
    fix: /\n {2}npx lazaret doctor --apparmor \| sudo tee \/etc\/apparmor\.d\/lazaret-cell\n {2}sudo apparmor_parser -r/,
    only: 'an ordinary user',
  },
  {
    ...inContainer,
    name: 'the right to mount /proc, where parts of it are masked',
    lacking: ['fresh-proc'],
    fix: /--security-opt systempaths=unconfined/,
  },
  {
    ...inContainer,
    name: 'the right to mount /proc, in a pod',
    lacking: ['fresh-proc', 'podman:no'],
    env: { KUBERNETES_SERVICE_HOST: '192.0.2.1' },
    fix: /hostUsers: false.*procMount: Unmasked/,
  },
  {
    ...inContainer,
    name: 'clone3',
    lacking: ['clone3'],
    fix: /seccomp filter that is on this process/,
  },
  {
    name: 'Landlock',
    lacking: ['landlock'],
    left: 'none',
    layer: 'cell',
    fix: /Landlock is missing\..*lsm=/,
  },
  {
    name: 'the scopes of Landlock',
    lacking: ['landlock-scope'],
    left: isRoot ? 'strong' : 'standard',
    layer: 'Landlock',
    state: 'weaker',
    fix: /Linux 6\.12/,
    only: isRoot ? 'root' : 'an ordinary user',
  },
  {
    name: 'the scopes of Landlock and user namespaces',
    lacking: ['landlock-scope', 'user-namespaces'],
    left: 'none',
    layer: 'cell',
    fix: /Linux 6\.12 or later.*start as root/,
    only: 'an ordinary user',
  },
  {
    name: 'cgroups',
    outsideContainers: true,
    lacking: ['cgroups'],
    left: 'standard',
    layer: 'cgroup',
    state: 'weaker',
    fix: /cgroup version 1|Delegate=memory pids cpu/,
  },
  {
    name: 'cgroups that can be written, in a container',
    lacking: ['writable-cgroups', 'podman:no'],
    left: 'standard',
    layer: 'cgroup',
    state: 'weaker',
    fix: /docker run --memory=2g --pids-limit=512/,
  },
  {
    name: 'the ids of cells, in a user namespace',
    lacking: ['ids-from=65536'],
    left: 'none',
    layer: 'cell',
    fix: /`uidRange`.*`\{ first: 61440, count: 4096 \}`/,
    only: 'root',
  },
  {
    name: 'the right to execute the launcher',
    lacking: [`execution=${join(checkoutRoot, 'native')}`],
    left: 'none',
    layer: 'cell',
    fix: /`sudo mount -o remount,exec '.*\/native'`/,
  },
]

for (const one of cases) {
  const whos = (Object.keys(userIds) as Who[]).filter(
    (who) => (one.only ?? who) === who && (isRoot || who !== 'root'),
  )
  for (const who of whos) {
    const skip =
      one.outsideContainers === true && inContainerAlready ? 'these tests run in a container' : false
    test(`without ${one.name}, ${who} gets ${one.left}, and a hint how to get more`, { skip }, async () => {
      const surroundings = { userId: userIds[who], env: one.env ?? {} }
      const run = (args: readonly string[]) => without.run(one.lacking, [...cli, ...args], surroundings)
      const { stdout, stderr, exitCode } = await run(['doctor', '--json'])
      assert.equal(stderr, '')
      const report = JSON.parse(stdout) as ProbeReport
      assert.equal(report.level, one.left, stdout)
      assert.equal(exitCode, ['none', 'restricted'].includes(one.left) ? 69 : 0)
      const layer = report.layers.find(({ name }) => name === one.layer)
      assert.equal(layer?.state, one.state ?? 'missing', stdout)
      assert.match(layer?.fix ?? '', one.fix)
      assert.ok((layer?.meaning ?? '').length > 20)
      if (one.state !== undefined) return

      const refused = await run(['run', '-l', 'shell', '-e', 'echo it ran'])
      assert.deepEqual({ ...refused, stderr: '' }, { exitCode: 69, stdout: '', stderr: '' })
      // Each line of the fix has a prefix.
      assert.match(refused.stderr, new RegExp(one.left === 'none' ? 'isolation' : 'standard|isolation'))
      if (one.left === 'none') return
      assert.match(refused.stderr.replaceAll(/\s+/g, ' '), /accept the lower level.*`--minimum restricted`/)
      const accepting = ['run', '--minimum', 'restricted', '--json', '-l', 'shell', '-e', 'echo it ran']
      const lowered = await run(accepting)
      const { receipt, stdout: text } = JSON.parse(lowered.stdout) as RunResult
      assert.deepEqual([receipt.protection, text], ['restricted', 'it ran\n'])
    })
  }
}

test('temporarily exhausted namespaces are an error of that run, and do not lower the level', async () => {
  const program = `
    import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'dist/index.js'))}
    await using lazaret = createLazaret()
    const up = Promise.withResolvers()
    const stop = new AbortController()
    const first = lazaret.run({ language: 'shell', code: 'echo up; sleep 60', onOutput: () => up.resolve(), signal: stop.signal })
    await up.promise
    const second = await lazaret.run({ language: 'shell', code: ':' }).catch(({ code, hint }) => ({ code, hint }))
    stop.abort()
    const { receipt } = await first
    let third
    for (let tries = 0; tries < 100 && third === undefined; tries++)
      third = await lazaret.run({ language: 'shell', code: ':' }).catch(() => undefined)
    console.log(JSON.stringify({ second, levels: [receipt.protection, third.receipt.protection] }))`
  const command = [process.execPath, '--input-type=module', '--eval', program]
  const { stdout, stderr } = await without.run(['user-namespaces-beyond=1'], command, {
    userId: userIds['an ordinary user'],
  })
  assert.equal(stderr, '')
  const { second, levels } = JSON.parse(stdout) as {
    second: { code: string; hint: string }
    levels: string[]
  }
  assert.equal(second.code, 'CELL_FAILED')
  assert.match(second.hint, /used up.*`user\.max_user_namespaces`/)
  assert.equal(levels[0], levels[1])
  assert.notEqual(levels[0], 'restricted')
})

test('the ids that doctor suggests for a user namespace are enough', { skip: notRoot }, async () => {
  const config = join(without.folder, 'lazaret.config.json')
  writeFileSync(config, JSON.stringify({ uidRange: { first: 61_440, count: 4096 } }))
  const { stdout } = await without.run(['ids-from=65536'], [...cli, 'doctor', '--json', '--config', config])
  assert.match((JSON.parse(stdout) as ProbeReport).level, /^(strong|standard)$/)
})

test('nothing of the machine was changed', () => {
  assert.equal(readFileSync('/proc/sys/user/max_user_namespaces', 'utf8'), hostCount)
  assert.ok(!existsSync('/run/.containerenv'))
  assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), /\/proc\/sys\/kernel|\/proc\/timer_list/)
})
