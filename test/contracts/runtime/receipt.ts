/** The receipt says what the guest itself can see. */
import assert from 'node:assert/strict'
import { readlinkSync } from 'node:fs'
import { it } from 'node:test'

import { createLazaret } from '../../../src/index.ts'
import { limitMechanisms } from '../../../src/result/receipt.ts'
import type { ContractParts } from '../runtime.contract.ts'

const noCapabilities = '0000000000000000'

export function contractOfReceipt({ programs, run }: ContractParts): void {
  it('says what the kernel says to the guest itself about its ids, capabilities and filters', async () => {
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
    assert.deepEqual(
      {
        CapBnd: observed['CapBnd'],
        NoNewPrivs: observed['NoNewPrivs'],
        Seccomp: observed['Seccomp'],
        Uid: observed['Uid'],
      },
      { CapBnd: noCapabilities, NoNewPrivs: '1', Seccomp: '2', Uid: '1000 1000 1000 1000' },
    )
  })

  it('says what the guest reads of its user map and its cgroup', async () => {
    const names = ['uid_map', 'gid_map', 'cgroup']
    const { receipt, stdout } = await run(programs.printFiles(...names.map((name) => `/proc/self/${name}`)))
    assert.equal(names.map((name) => receipt.observed[name]).join(), stdout.trimEnd().replaceAll('\n', ','))
  })

  it('names namespaces that the guest is in and the host is not', async () => {
    const names = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup']
    const { receipt, stdout } = await run(
      programs.printLinks(...names.map((name) => `/proc/self/ns/${name}`)),
    )
    const seen = stdout.trim().split('\n')
    assert.deepEqual(
      names.map((name) => receipt.observed[`ns_${name}`]),
      seen,
    )
    for (const [index, name] of names.entries()) assert.notEqual(seen[index], readHostNamespace(name), name)
  })

  it('names the layers that stood', async () => {
    const { receipt } = await run(programs.print(''))
    const strong = receipt.protection === 'strong'
    assert.deepEqual(receipt.layers, [
      ...(strong ? ['own-uid'] : []),
      'user-namespace',
      'pid-namespace',
      'mount-namespace',
      'ipc-namespace',
      'uts-namespace',
      'cgroup-namespace',
      'network-namespace',
      ...(receipt.layers.includes('cgroup') ? ['cgroup'] : []),
      'no-capabilities',
      'no-new-privileges',
      'no-nested-user-namespaces',
      `landlock-${receipt.layers.find((layer) => layer.startsWith('landlock-'))?.slice('landlock-'.length)}`,
      'seccomp',
      'rlimits',
    ])
    assert.equal(strong, process.geteuid?.() === 0 && receipt.layers.includes('cgroup'))
  })

  it('leaves out the network namespace when the host’s network is shared', async () => {
    const { receipt, stdout } = await run(programs.printLinks('/proc/self/ns/net'), { network: 'host' })
    assert.ok(!receipt.layers.includes('network-namespace'))
    assert.equal(stdout.trim(), readHostNamespace('net'))
  })

  it('names the runtime, and each limit with its value and what holds it', async () => {
    const { receipt } = await run(programs.print(''), { limits: { wallMs: 9000, cpuMs: 8000 } })
    assert.equal(receipt.runtime, programs.runtime)
    const mechanisms = limitMechanisms(receipt.layers.includes('cgroup'))
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

  it('tells a use of time and memory that can be true', async () => {
    const { usage } = await run(programs.fill(1000))
    assert.ok(usage.wallMs > 0 && usage.wallMs < 20_000, `${usage.wallMs} ms`)
    assert.ok(usage.cpuMs > 0 && usage.cpuMs < 20_000, `${usage.cpuMs} ms of processor time`)
    assert.ok(
      usage.memoryPeakBytes > 100_000 && usage.memoryPeakBytes < 512 * 1024 * 1024,
      `${usage.memoryPeakBytes} bytes`,
    )
    assert.deepEqual({ queued: usage.queuedMs, output: usage.outputBytes }, { queued: 0, output: 1000 })
  })
}

function readHostNamespace(name: string): string {
  return readlinkSync(`/proc/self/ns/${name}`)
}
