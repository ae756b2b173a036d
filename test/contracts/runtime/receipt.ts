/** The receipt agrees with what the guest itself can see. */
import assert from 'node:assert/strict'
import { readlinkSync } from 'node:fs'
import { it } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { limitMechanisms } from '../../../src/jail/limits/plan-limits.ts'
import type { ContractParts } from '../runtime.contract.ts'

const isRoot = process.geteuid?.() === 0
const noCapabilities = '0000000000000000'

export function contractOfReceipt({ programs, run }: ContractParts): void {
  it('contains what the kernel tells the guest about its ids, capabilities and filters', async () => {
    const { receipt, stdout } = await run(programs.printFiles('/proc/self/status'))
    const { observed } = receipt
    for (const name of [
      'Uid',
      'Gid',
      'CapInh',
      'CapPrm',
      'CapEff',
      'CapBnd',
      'CapAmb',
      'NoNewPrivs',
      'Seccomp',
    ]) {
      const [, seen = 'nothing'] = new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(stdout) ?? []
      assert.equal(observed[name], seen.replaceAll('\t', ' '), name)
    }
    const { CapEff, NoNewPrivs, Seccomp } = observed
    assert.deepEqual(
      { CapEff, NoNewPrivs, Seccomp },
      { CapEff: noCapabilities, NoNewPrivs: '1', Seccomp: '2' },
    )
    const isRestricted = receipt.protection === 'restricted'
    // An ordinary user may empty its bounding set only in its own user namespace.
    if (!isRestricted || isRoot) assert.equal(observed['CapBnd'], noCapabilities)
    const ids = new Set(observed['Uid']?.split(' '))
    assert.equal(ids.size, 1)
    // Spaces of one cell have ids of their own side by side: forks, and where a cgroup counts, parked shells.
    const isInSpace =
      receipt.start === 'forked' ||
      (receipt.start === 'parked' && programs.runtime === 'shell' && !isRestricted)
    if (isInSpace) assert.match([...ids].join(), /^10[0-3]\d$/)
    else if (!isRestricted) assert.deepEqual([...ids], ['1000'])
    else assert.equal(ids.has(String(process.geteuid?.())), !isRoot)
  })

  it('contains what the guest reads about its user map and its cgroup', async () => {
    const names = ['uid_map', 'gid_map', 'cgroup']
    const { receipt, stdout } = await run(programs.printFiles(...names.map((name) => `/proc/self/${name}`)))
    assert.equal(names.map((name) => receipt.observed[name]).join(), stdout.trimEnd().replaceAll('\n', ','))
  })

  it('names the namespaces of the guest, which are the host’s only at level restricted', async () => {
    const names = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup']
    const { receipt, stdout } = await run(
      programs.printLinks(...names.map((name) => `/proc/self/ns/${name}`)),
    )
    const seen = stdout.trim().split('\n')
    assert.deepEqual(
      names.map((name) => receipt.observed[`ns_${name}`]),
      seen,
    )
    const isRestricted = receipt.protection === 'restricted'
    for (const [index, name] of names.entries())
      assert.equal(seen[index] === readHostNamespace(name), isRestricted, name)
  })

  it('names the layers that were applied', async () => {
    const { receipt } = await run(programs.print(''))
    const isRestricted = receipt.protection === 'restricted'
    const namespaces = ['user', 'pid', 'mount', 'ipc', 'uts', 'cgroup', 'network']
    const ownView = receipt.layers.filter((layer) => layer === 'own-view')
    const layersOfNamespaces = namespaces.flatMap((name) => [
      `${name}-namespace`,
      ...(name === 'mount' ? ownView : []),
    ])
    assert.deepEqual(receipt.layers, [
      ...(isRoot ? ['own-uid'] : []),
      ...(isRestricted ? [] : layersOfNamespaces),
      ...(receipt.layers.includes('cgroup') ? ['cgroup'] : []),
      'no-capabilities',
      'no-new-privileges',
      ...(isRestricted ? [] : ['no-nested-user-namespaces']),
      `landlock-${receipt.layers.find((layer) => layer.startsWith('landlock-'))?.slice('landlock-'.length)}`,
      'seccomp',
      'rlimits',
      ...(isRestricted ? ['warden'] : []),
    ])
    const isStrong = isRoot && !isRestricted && receipt.layers.includes('cgroup')
    assert.equal(receipt.protection === 'strong', isStrong)
  })

  it('leaves out the network namespace when the host’s network is shared', async () => {
    await using open = createLazaret({ access: { networks: ['host'] } })
    const { language, runtime } = programs
    const code = programs.printLinks('/proc/self/ns/net')
    const { receipt, stdout } = await open.run({ code, language, runtime, network: 'host' })
    assert.ok(!receipt.layers.includes('network-namespace'))
    assert.equal(stdout.trim(), readHostNamespace('net'))
  })

  it('names the runtime, and each limit with its value and what enforces it', async () => {
    const { receipt } = await run(programs.print(''), { limits: { wallMs: 9000, cpuMs: 8000 } })
    assert.equal(receipt.runtime, programs.runtime)
    const mechanisms = limitMechanisms({
      cgroupVersion: receipt.layers.includes('cgroup') ? 1 : null,
      level: receipt.protection,
      identity: receipt.layers.includes('own-uid') ? 'own' : 'shared',
      isInSpace: receipt.start === 'forked',
    })
    assert.deepEqual(receipt.limits.wallMs, { value: 9000, by: 'cell' })
    assert.deepEqual(receipt.limits.cpuMs, { value: 8000, by: mechanisms.cpuMs })
    for (const [name, { value, by }] of Object.entries(receipt.limits))
      assert.equal(by, value === null ? 'none' : mechanisms[name as 'wallMs'])
    assert.deepEqual(receipt.clamped, [])
  })

  it('names the limits that the operator’s ceilings lowered, and only those', async () => {
    await using lazaret = createLazaret({ ceilings: { wallMs: 5000, openFilesMax: 128, cpuMs: 4000 } })
    const { language, runtime } = programs
    const limits = { wallMs: 60_000, openFilesMax: 64 }
    const { receipt } = await lazaret.run({ code: programs.print(''), language, runtime, limits })
    assert.deepEqual(receipt.clamped, ['wallMs'])
    const { wallMs, openFilesMax, cpuMs } = receipt.limits
    assert.deepEqual([wallMs.value, openFilesMax.value, cpuMs.value], [5000, 64, 4000])
  })

  it('reports a plausible use of time and memory, each time', async () => {
    // Whether a process still has its memory when it is measured is a matter of chance.
    for (let time = 0; time < 4; time++) {
      const { usage } = await run(programs.fill(1000))
      assert.ok(usage.wallMs > 0 && usage.wallMs < 20_000, `${usage.wallMs} ms`)
      assert.ok(usage.cpuMs > 0 && usage.cpuMs < 20_000, `${usage.cpuMs} ms of processor time`)
      assert.ok(
        usage.memoryPeakBytes > 100_000 && usage.memoryPeakBytes < 512 * 1024 * 1024,
        `${usage.memoryPeakBytes} bytes`,
      )
      assert.deepEqual({ queued: usage.queuedMs, output: usage.outputBytes }, { queued: 0, output: 1000 })
    }
  })
}

function readHostNamespace(name: string): string {
  return readlinkSync(`/proc/self/ns/${name}`)
}
