/**
 * Mounts file systems in a mount namespace of its own, as cells, other programs and the next user of the machine do, and
 * prints what the leak check says of each.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { LeakCheck } from '../machine/leaks.ts'

const elsewhere = mkdtempSync(join(tmpdir(), 'mounting-'))
// Node opens a descriptor for its first child, and keeps it.
execFileSync('true')
const leaks = new LeakCheck(200)
await leaks.takeBaseline()

function mount(target: string): string {
  mkdirSync(target, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', 'none', target])
  const left = leaks.describeLeft() ?? ''
  execFileSync('umount', [target])
  return left
}

const seen = {
  elsewhere: mount(elsewhere),
  inFolder: mount(join(leaks.temporaryFolder, 'view')),
  // Where cells build their view: what is mounted there is not mounted by anybody else.
  inView: mount('/proc/fs'),
  bound: '',
}
execFileSync('mount', ['--bind', leaks.temporaryFolder, elsewhere])
seen.bound = leaks.describeLeft() ?? ''
const check = () => leaks.check().then(String, ({ message }: Error) => message)
console.log(JSON.stringify({ ...seen, checks: [await check(), await check()] }))
