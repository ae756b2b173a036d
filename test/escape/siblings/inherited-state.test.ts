/** A guest's initial state: it inherits nothing from the host except what the documentation lists. */
import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { test } from 'node:test'

import { areInForks } from '../../support/in-forks.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Without a mount namespace a guest has folders on the host's disk, and variables with their names. */
function assertCommon(found: Readonly<Record<string, string>>): void {
  const { HOME = '', TMPDIR, GIT_CONFIG_NOSYSTEM, ...rest } = found
  assert.equal(GIT_CONFIG_NOSYSTEM, guests.level === 'restricted' ? '1' : undefined)
  assert.deepEqual(rest, { LANG: 'C.UTF-8', TZ: 'UTC', USER: 'guest' })
  if (guests.level !== 'restricted') assert.deepEqual([HOME, TMPDIR], ['/workspace', undefined])
  else {
    assert.match(HOME, /\/lazaret-[-\d]+\/run-\d+\/workspace$/)
    assert.equal(TMPDIR, HOME.replace(/workspace$/, 'tmp'))
  }
}

test('shell: only descriptors 0, 1 and 2 are open, and stdin is empty', async () => {
  // The same process becomes ls: it is the one whose entry in /proc may be read at every level.
  const { stdout } = await guests.run({ ...shell, code: 'cat | wc -c; exec ls -l /proc/self/fd' })
  const [size, , ...lines] = stdout.trimEnd().split('\n')
  assert.equal(size, '0')
  assert.deepEqual(
    lines.map((line) => line.replace(/^.* (\d+ -> )/, '$1').replace(/\d+(\]|\/fd)$/, 'N$1')),
    ['0 -> /dev/null', '1 -> pipe:[N]', '2 -> pipe:[N]', '3 -> /proc/N/fd'],
  )
})

/** For a program started by the guest: testing descriptors one by one needs no permission to list them. */
const listDescriptors = 'for fd in $(seq 0 1023); do test -e /proc/self/fd/$fd && echo $fd; done; exit 0'

test('python: only descriptors 0 to 3 are open, 3 is a socket, and child processes get 0 to 2', async () => {
  const code = `
import json, os, re, subprocess
own = {fd: re.sub(r'\\d+', 'N', os.readlink('/proc/self/fd/' + fd)) for fd in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + fd) or fd < '4'}
own = {fd: target for fd, target in own.items() if not target.startswith('/proc/N/fd')}
child = subprocess.run(['sh', '-c', '${listDescriptors}'], capture_output=True, text=True, close_fds=False).stdout.split()
print(json.dumps([own, child]))`
  const { stdout, stderr } = await guests.run({ ...python, code })
  // A parked guest gets its stdin later.
  const own = { 0: areInForks ? 'pipe:[N]' : '/dev/null', 1: 'pipe:[N]', 2: 'pipe:[N]', 3: 'socket:[N]' }
  assert.deepEqual(JSON.parse(stdout), [own, ['0', '1', '2']], stderr)
})

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: no descriptor is a folder or a file of the host, and a program that it starts gets 0 to 2`, async () => {
    const code = `
      const fs = await import('node:fs'), { execFileSync } = await import('node:child_process')
      const own = fs.readdirSync('/proc/self/fd').flatMap((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return [] } })
      console.log(JSON.stringify([own, execFileSync('sh', ['-c', '${listDescriptors}']).toString().trim().split('\\n')]))`
    const { stdout, stderr } = await guests.run({ ...runtime, code })
    const [own, child] = JSON.parse(stdout) as [string[], string[]]
    const ours =
      /^(\/dev\/(null|urandom)|(pipe|socket):\[\d+\]|anon_inode:.*|\/proc\/\d+\/(fd|statm|stat)|\/proc\/(self|meminfo).*|\/opt\/lazaret\/.*|\/memfd:.*)$/
    assert.deepEqual(
      own.filter((target) => !ours.test(target)),
      [],
      stderr,
    )
    assert.deepEqual(child, ['0', '1', '2'])
  })
}

test('shell: the environment is exactly the documented one, with the request’s own variables', async () => {
  const { stdout } = await guests.run({ ...shell, code: 'exec env -0', env: { MINE: 'a\nb' } })
  const found = Object.fromEntries(
    stdout
      .split('\0')
      .filter(Boolean)
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  const { PATH, MINE, PWD, SHLVL, ...rest } = found
  assertCommon(rest)
  // bash itself adds the last two.
  assert.deepEqual([PATH, MINE, PWD, SHLVL], ['/usr/local/bin:/usr/bin:/bin', 'a\nb', found['HOME'], '0'])
})

test('python, bun and node: the environment is exactly the documented one', async () => {
  const read = 'console.log(JSON.stringify(process.env))'
  const requests = [
    { ...python, code: 'import json, os\nprint(json.dumps(dict(os.environ)))' },
    { ...bun, code: read },
    { ...node, code: read },
  ]
  for (const request of requests) {
    const { PATH, ...rest } = JSON.parse((await guests.run(request)).stdout) as Record<string, string>
    assertCommon(rest)
    assert.match(PATH ?? '', /^\/[^:]+:\/usr\/local\/bin:\/usr\/bin:\/bin$/)
  }
})

test('umask, working folder, session, terminal and scheduling policy are reset, and the priority is the host’s', async () => {
  const code = `umask; pwd | sed "s|^$HOME|home|"; (exec < /dev/tty) 2>/dev/null && echo terminal; awk '{ print "tty", $7, "nice", $19, "policy", $41, "leader", ($1 == $6) }' /proc/$$/stat; ls -l /proc/$$/cwd /proc/$$/root | awk '{ print $NF }' | sed "s|^$HOME|home|"`
  assert.equal(
    (await guests.run({ ...shell, code })).stdout,
    `0022\nhome\ntty 0 nice ${getPriority()} policy 0 leader 1\nhome\n/\n`,
  )
})

test('no signal is blocked, ignored or pending', async () => {
  const code = `exec grep -E '^(SigBlk|SigIgn|SigPnd|ShdPnd):' /proc/self/status`
  const none = (name: string) => `${name}:\t0000000000000000\n`
  assert.equal(
    (await guests.run({ ...shell, code })).stdout,
    ['SigPnd', 'ShdPnd', 'SigBlk', 'SigIgn'].map(none).join(''),
  )
})

test('the receipt’s facts are those that the guest sees about itself', async () => {
  const code = `exec grep -E '^(NoNewPrivs|Seccomp|CapBnd|CapEff):' /proc/self/status`
  const { stdout, receipt } = await guests.run({ ...shell, code })
  const seen = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(':\t')),
  )
  const { NoNewPrivs, Seccomp, CapBnd, CapEff } = receipt.observed
  assert.deepEqual(seen, { NoNewPrivs, Seccomp, CapBnd, CapEff })
})
