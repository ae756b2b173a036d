/** Setuid programs: the host's own and home-made ones give no privilege. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Receipt } from '../../../src/index.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

test('no process can gain privileges', async () => {
  const code = `grep -E '^(NoNewPrivs|Cap(Inh|Prm|Eff|Amb)):' /proc/$$/status | awk '{ print $2 }' | sort -u`
  assert.equal((await guests.run({ ...shell, code })).stdout, '0000000000000000\n1\n')
})

test('no capability can be gained, if the creator of the cell could give them up for good', async () => {
  const { receipt } = await guests.run({ ...shell, code: ':' })
  // An ordinary user may empty its bounding set only in its own user namespace; otherwise no_new_privs has that effect.
  const isKept = guests.level === 'restricted' && process.geteuid?.() !== 0
  assert.equal(receipt.observed['CapBnd'] === '0000000000000000', !isKept, receipt.observed['CapBnd'])
})

if (guests.level !== 'restricted') {
  test('every mount of a cell is nosuid', async () => {
    const code = `awk '{ print $6 }' /proc/self/mountinfo | grep -vc nosuid`
    assert.equal((await guests.run({ ...shell, code })).stdout, '0\n')
  })
}

test('setuid and setgid programs of the host run with the guest’s own ids', async () => {
  const code = `
found=0
for program in $(find /usr /bin -xdev -type f \\( -perm -4000 -o -perm -2000 \\) 2>/dev/null); do
  found=$((found+1))
  timeout -s KILL 0.2 "$program" --help >/dev/null 2>&1 </dev/null
done
timeout -s KILL 0.3 su -c 'echo became root' root </dev/null 2>/dev/null
sudo -n echo became root 2>/dev/null
newuidmap $$ 0 0 1 2>/dev/null && echo mapped
mount -t tmpfs none . 2>/dev/null && echo mounted
id -u; id -g; id -G`
  const { stdout, receipt } = await guests.run({ ...shell, code, limits: { wallMs: ampleMs } })
  const id = guestId(receipt)
  assert.equal(stdout, `${id}\n${id}\n${id}\n`)
})

test('a setuid copy that the guest makes itself changes nothing', async () => {
  const code = `for folder in $HOME \${TMPDIR:-/tmp}; do cp /usr/bin/bash $folder/b; chmod 6755 $folder/b; $folder/b -p -c 'echo $EUID $UID $(id -u) $(id -ru) $(id -g) $(id -rg)'; done`
  const { stdout, receipt } = await guests.run({ ...shell, code })
  const line = `${Array.from({ length: 6 }, () => guestId(receipt)).join(' ')}\n`
  assert.equal(stdout, line + line)
})

test('python: ids, groups and capabilities cannot be changed', async () => {
  const code = `
import ctypes, errno, os
answers = []
for attempt in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0]), lambda: os.seteuid(65534), lambda: os.chown('.', 0, 0)):
    try:
        attempt()
        answers.append('ok')
    except OSError as error: answers.append(errno.errorcode[error.errno])
print(sorted(set(answers)), os.getresuid())`
  const { stdout, receipt } = await guests.run({ ...python, code })
  const id = guestId(receipt)
  const [, answers, ids] = /^(\[.*\]) (\(.*\))\n$/.exec(stdout) ?? []
  assert.match(answers ?? '', /^\[('EINVAL', )?'EPERM'\]$|^\['EINVAL'\]$/)
  assert.equal(ids, `(${id}, ${id}, ${id})`)
})

/** 1000 in a user namespace; without one an id of the host's, and never that of its root. */
function guestId({ observed }: Receipt): string {
  const id = observed['Uid']?.split(' ')[0] ?? ''
  const { level } = guests
  const isRoot = process.geteuid?.() === 0
  if (level !== 'restricted') assert.equal(id, '1000')
  else if (isRoot) assert.ok(Number(id) > 1_000_000_000, `uid ${id} is no id of the cell's own`)
  else assert.equal(id, String(process.geteuid?.()))
  return id
}
