/**
 * The parts of the machine that sandboxes see so that installed programs work, and the writable places besides the
 * workspace: none of them reveals whose machine it is, can be changed, leads to another sandbox or to a command with
 * credentials, or uses resources of others.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { after, test } from 'node:test'

import { listEtc } from '../../../src/jail/view/host-etc.ts'
import { lookAtHost } from '../../../src/jail/view/host-view.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { listCells } from '../../support/machine/processes.ts'

const leaks = new LeakCheck()
await leaks.takeBaseline()
const lazaret = createLazaret({ onEvent: () => undefined })
const limits = { memoryBytes: 512 * 1024 * 1024, processesMax: 200 }
const sandbox = await lazaret.sandbox({ limits })
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await leaks.checkDisposed()
})

/** All visible files of /etc and /var, as text. */
async function readShown(): Promise<string> {
  const { stdout } = await sandbox.exec(
    `find -L /etc /sys /var/lib/dpkg/status /var/lib/dpkg/diversions /var/lib/dpkg/statoverride -xdev -type f -size -2M -not -path '*/certs/*' -exec cat {} + 2>/dev/null | tr -d '\\0' | head -c 9M`,
  )
  return stdout
}

test('no visible file names the machine, its users or its mounts', async () => {
  const shown = await readShown()
  assert.match(shown, /guest:x:1000/)
  const machineId = existsSync('/etc/machine-id') ? readFileSync('/etc/machine-id', 'utf8').trim() : ''
  if (machineId.length >= 32) assert.ok(!shown.includes(machineId))
  const people = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([, , id]) => Number(id) >= 1000 && Number(id) < 60_000)
    .map(([name = '']) => name)
  for (const name of people) assert.ok(!new RegExp(`^${name}:`, 'm').test(shown), name)
  if (hostname().length > 6) assert.ok(!shown.includes(hostname()))
  assert.doesNotMatch(shown, /PRIVATE KEY-----\n|^UUID=|^\w+:\$[56y]\$/m)
})

test('the list of /etc leaves out what may hold a secret or a name', () => {
  const names =
    /shadow|passwd|ssh|sudoers|machine-id|hosts|fstab|npmrc|pip\.conf|gitconfig|settings\.xml|wgetrc|apt\/|ssl\/private|jmxremote|php\.ini|environment/
  assert.deepEqual(
    listEtc().filter((path) => names.test(path)),
    [],
  )
  const { database } = lookAtHost()
  assert.ok(database.every((path) => !/debconf|cache/.test(path)))
})

test('none of it can be written, replaced, marked or covered', async () => {
  const targets = [
    '/etc/passwd',
    '/etc/mtab',
    '/etc/debian_version',
    '/sys/devices/system/cpu/online',
    '/var/lib/dpkg/status',
    '/opt/lazaret/bin/node',
  ]
  const attempts = targets.flatMap((path) => [
    `echo x >> ${path}`,
    `[ -e ${path} ] && rm -f ${path}`,
    `mv ${path} /tmp/`,
    `chmod 777 ${path}`,
    `touch ${path}.new`,
    `mount --bind /tmp ${path}`,
  ])
  const script = attempts.map((attempt) => `(${attempt}) 2>/dev/null && echo '${attempt}'`).join('\n')
  assert.equal((await sandbox.exec(script)).stdout, '')
})

test('a sandbox finds nothing that another has left in HOME, /run or /var', async () => {
  await using other = await lazaret.sandbox({ limits })
  await sandbox.exec(
    'for folder in ~ /run /run/lock $XDG_RUNTIME_DIR /var/tmp /tmp; do echo mine > $folder/mark-of-one; done',
  )
  const { stdout } = await other.exec('find / -name mark-of-one 2>/dev/null')
  assert.equal(stdout, '')
})

test('files that a command plants in HOME, on PATH or in /run do not affect one with credentials', async () => {
  await sandbox.exec(
    `mkdir -p ~/.local/bin ~/.ssh; for name in node git cat ls env; do printf '#!/bin/sh\\necho planted $TOKEN\\n' > ~/.local/bin/$name; chmod +x ~/.local/bin/$name; done; echo 'echo planted' > ~/.bashrc; cp ~/.bashrc ~/.profile; echo planted > /run/mark; echo planted > $XDG_RUNTIME_DIR/mark`,
  )
  const secure = await sandbox.exec(
    'ls -A ~ /run /run/user/1000 /tmp; cat /run/mark ~/.bashrc; env | cut -d= -f1 | sort | tr "\\n" " "; echo "$PATH"',
    { env: { TOKEN: 'secret' } },
  )
  assert.doesNotMatch(secure.stdout, /planted|mark$|\.local/m)
  await sandbox.exec('rm -rf ~/.local ~/.bashrc ~/.profile')
})

test('a HOME that was moved does not redirect a later mount', async () => {
  await sandbox.exec(
    'mv /home/guest /home/other; rm -rf ~; ln -s /usr ~; mv /run/user /run/moved; rm -rf /run/tmp; ln -s /etc /run/tmp',
  )
  const { stdout, exitCode } = await sandbox.exec(
    'echo kept > ~/own; cat ~/own; ls -d /usr/bin /usr/own; ls -A /tmp',
    {
      env: { TOKEN: 't' },
    },
  )
  assert.deepEqual([exitCode, stdout], [0, 'kept\n/usr/bin\n'])
  assert.match((await sandbox.exec('echo still; ls -d ~')).stdout, /^still\n\/home\/guest\n/)
})

test('HOME, /run and /var use only the sandbox’s own disk and memory', async () => {
  await using small = await lazaret.sandbox({
    limits: { memoryBytes: 64 * 1024 * 1024, diskBytes: 8 * 1024 * 1024 },
  })
  const fill =
    'for folder in ~ /workspace /run /tmp /var/tmp $XDG_RUNTIME_DIR; do dd if=/dev/zero of=$folder/fill bs=64k count=400 2>/dev/null; done; cat ~/fill /workspace/fill | wc -c; cat /run/fill /tmp/fill $XDG_RUNTIME_DIR/fill | wc -c'
  const { stdout } = await small.exec(fill)
  const [kept = 0, passing = 0] = stdout.trim().split('\n').map(Number)
  assert.ok(kept > 0 && kept <= 8 * 1024 * 1024, stdout)
  assert.ok(passing > 0 && passing <= 2 * 1024 * 1024, stdout)
})

/** Each child keeps as many files open as it may. */
const hoard = `
import os, resource, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
for child in range(150):
  if os.fork() == 0:
    try:
      while True: os.open('/dev/null', os.O_RDONLY)
    except OSError: time.sleep(60)
time.sleep(60)
`

test('processes that open files for ever are ended before the machine has none left', async () => {
  await using greedy = await lazaret.sandbox({ limits })
  if (greedy.limits.openFilesMax * 150 < 300_000) return
  let most = 0
  const looking = setInterval(() => (most = Math.max(most, openOfGuests())), 20)
  const { outcome } = await greedy
    .exec(`python3 -c "${hoard}"`, { timeout: 60_000 })
    .finally(() => clearInterval(looking))
  // At level strong the cgroup's kernel memory may run out first.
  assert.ok(['limit-exceeded', 'out-of-memory'].includes(outcome.kind), outcome.kind)
  if (outcome.kind === 'limit-exceeded') assert.equal(outcome.limit, 'files')
  const tableMax = Number(readFileSync('/proc/sys/fs/file-max', 'utf8'))
  assert.ok(most > 0 && most < tableMax / 2, `${most} of ${tableMax}`)
})

/** Descriptors of all processes in cells of this process. What the rest of the machine has open does not count. */
function openOfGuests(): number {
  return listCells()
    .flatMap(({ guests }) => guests)
    .reduce((sum, { pid }) => sum + descriptorsOf(pid), 0)
}

function descriptorsOf(pid: number): number {
  try {
    // Linux 6.2 and later count them here, so nobody has to list tens of thousands.
    return statSync(`/proc/${pid}/fd`).size || readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0 // It has ended.
  }
}
