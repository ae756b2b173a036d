/** A race: two processes of the user space search everywhere, without a pause, while commands with secrets start and end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { holdSecret, inventSecret, scanOnAndOn } from '../test/support/hostile/secret-scanner.ts'
import type { ScanReport } from '../test/support/hostile/secret-scanner.ts'
import { openTarget } from '../test/support/target-sandbox.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

const guests = await useLazaret()
const raceMs = 10_000
/** The number of commands, however slow the machine is. */
const commandsMin = 50

/** What commands do with their secret, from nothing to leaving it everywhere. */
const commands = [
  'test -n "$SECRET"',
  'sh -c "sleep 0.02" $SECRET',
  'echo $SECRET > /tmp/file; cp /tmp/file /dev/shm/file; cat /dev/shm/file > ~/file',
  'printf %s "$SECRET" | cat | cat > /dev/null; (sleep 0.03; : $SECRET) & wait',
  'python3 -c "import os, socket; s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + os.environ[\'SECRET\']); s.listen()"',
  'touch /workspace/over; python3 -I /workspace/hold.py; kill -SEGV $$',
  'exec -a "$SECRET" sleep 0.05',
  'sleep 60',
]

test('a scan of ten seconds finds no secret while commands with secrets start, run and end', async () => {
  const files = { 'hold.py': holdSecret, 'scan.py': scanOnAndOn }
  await using target = await openTarget(guests, { files })
  const { sandbox } = target
  const scanners = await Promise.all(
    [1, 2].map(async (number) => {
      const scanner = await sandbox.startProcess('exec python3 scan.py', { id: `scanner-${number}` })
      await scanner.waitForLog('ready')
      return scanner
    }),
  )
  const end = performance.now() + raceMs
  let count = 0
  const work = [1, 2, 3].map(async () => {
    while (count < commandsMin || performance.now() < end) {
      const command = commands[count++ % commands.length] ?? ':'
      await sandbox.exec(command, { env: { SECRET: inventSecret() }, timeout: 2000 })
    }
  })
  await Promise.all(work)
  await sandbox.exec('touch enough')
  for (const scanner of scanners) {
    await scanner.waitForExit()
    const { stdout, stderr } = scanner.getLogs()
    const report = JSON.parse(stdout.split('\n').at(1) ?? '') as ScanReport
    assert.deepEqual(report.found, [], stderr)
    assert.ok(report.looked > 10_000, `only ${report.looked} places`)
  }
  await target.requireUnharmed()
})
