/** The namespaces of a sandbox. Each costs time and memory, and guests that must be isolated from each other need separate ones. */
import assert from 'node:assert/strict'
import { readlinkSync } from 'node:fs'
import { test } from 'node:test'

import { listCells } from '../../support/machine/processes.ts'
import { useSandbox } from '../use-sandbox.ts'

const { sandbox, hasSecure } = await useSandbox()
const withoutSecure = !hasSecure && 'there are no namespaces here'
const names = ['mnt', 'pid', 'net', 'ipc', 'uts'] as const
const show = `for name in ${names.join(' ')}; do readlink /proc/self/ns/$name; done`

async function namespacesOf(env?: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { stdout } = await sandbox.exec(show, env === undefined ? {} : { env })
  const links = stdout.trim().split('\n')
  assert.equal(links.length, names.length, stdout)
  return links
}

test(
  'commands with credentials share no namespace with other commands, and none of them one with the host',
  { skip: withoutSecure },
  async () => {
    const host = names.map((name) => readlinkSync(`/proc/self/ns/${name}`))
    const all = [host, await namespacesOf(), await namespacesOf({ TOKEN: 't' })]
    assert.equal(new Set(all.flat()).size, all.length * names.length, JSON.stringify(all))
  },
)

test(
  'the user space is alone in the network, IPC and host name of its cell, and an idle sandbox has no further ones',
  { skip: withoutSecure || (process.getuid?.() !== 0 && 'only root sees the namespaces of a cell') },
  async () => {
    const [cell] = listCells()
    assert.ok(cell !== undefined)
    const own = await namespacesOf()
    const shared = ['net', 'ipc', 'uts'] as const
    for (const name of shared)
      assert.equal(readlinkSync(`/proc/${cell.pid1.pid}/ns/${name}`), own[names.indexOf(name)], name)
    for (const name of ['mnt', 'pid'] as const)
      assert.notEqual(readlinkSync(`/proc/${cell.pid1.pid}/ns/${name}`), own[names.indexOf(name)], name)
    // They give no access to the control space.
    const { stdout } = await sandbox.exec(
      'tail -qn +2 /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/raw; grep @ /proc/net/unix; ipcs -a | grep -c 0x',
    )
    assert.equal(stdout, '0\n')
  },
)
