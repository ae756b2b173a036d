/** Orphans: hundreds of processes whose parents are gone end, and somebody must reap them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const times = 300
const countZombies = `for i in $(seq 100); do n=$(grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l); [ $n = 0 ] && break; sleep 0.02; done; echo "zombies $n, processes $(ls -d /proc/[0-9]* | wc -l)"`
const clean = /zombies 0, processes [1-9]\n$/

const spawnOrphans = `
  const { spawnSync, execFileSync } = await import('node:child_process')
  for (let i = 0; i < ${times / 10}; i++) spawnSync('sh', ['-c', '${'(true &) ; '.repeat(10)} true'])
  console.log(execFileSync('sh', ['-c', ${JSON.stringify(countZombies)}]).toString().trim())`

const attacks = {
  shell: { ...shell, code: `for i in $(seq ${times}); do (true &) ; done; ${countZombies}` },
  python: {
    ...python,
    code: `
import os, subprocess
for _ in range(${times}):
    child = os.fork()
    if child == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
print(subprocess.run(['sh', '-c', ${JSON.stringify(countZombies)}], capture_output=True, text=True).stdout.strip())`,
  },
  bun: { ...bun, code: spawnOrphans },
  node: { ...node, code: spawnOrphans },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${times} orphaned exits under ${name} leave no zombie, and do not use up the limit on processes`, async () => {
    const { outcome, stdout, stderr } = await guests.run({
      ...request,
      limits: { processesMax: 48, wallMs: 20_000 },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.match(stdout, clean)
  })
}
