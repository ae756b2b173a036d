/** Setuid programs: the host's own and home-made ones give no privilege. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

test('every mount is nosuid, and no process can gain privileges', async () => {
  const code = `awk '{ print $6 }' /proc/self/mountinfo | grep -vc nosuid; grep -E '^(NoNewPrivs|Cap(Inh|Prm|Eff|Bnd|Amb)):' /proc/self/status | awk '{ print $2 }' | sort -u`
  assert.equal((await guests.run({ ...shell, code })).stdout, '0\n0000000000000000\n1\n')
})

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
mount -t tmpfs none /tmp 2>/dev/null && echo mounted
id -u; id -g; id -G`
  const { stdout } = await guests.run({ ...shell, code, limits: { wallMs: 10_000 } })
  assert.equal(stdout, '1000\n1000\n1000\n')
})

test('a setuid copy that the guest makes itself changes nothing', async () => {
  const code = `for folder in /workspace /tmp; do cp /usr/bin/bash $folder/b; chmod 6755 $folder/b; $folder/b -p -c 'echo $EUID $UID; grep ^Uid: /proc/self/status'; done`
  const line = '1000 1000\nUid:\t1000\t1000\t1000\t1000\n'
  assert.equal((await guests.run({ ...shell, code })).stdout, line + line)
})

test('python: ids, groups and capabilities cannot be changed', async () => {
  const code = `
import ctypes, errno, os
answers = []
for attempt in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0]), lambda: os.seteuid(65534), lambda: os.chown('/workspace', 0, 0)):
    try:
        attempt()
        answers.append('ok')
    except OSError as error: answers.append(errno.errorcode[error.errno])
print(sorted(set(answers)), os.getresuid())`
  assert.match(
    (await guests.run({ ...python, code })).stdout,
    /^\[('EINVAL', )?'EPERM'\] \(1000, 1000, 1000\)\n$|^\['EINVAL'\] \(1000, 1000, 1000\)\n$/,
  )
})
