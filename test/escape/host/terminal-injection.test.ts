/** A guest's own pty: injecting input (TIOCSTI), taking the console, loading line disciplines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `${pythonSyscalls}
import fcntl, select
main, side = os.openpty()
if os.fork() == 0:
    os.setsid()
    fcntl.ioctl(side, 0x540e, 0) # TIOCSCTTY: it is the controlling terminal now
    answers = {}
    for fd in (main, side):
        for high in (0, 1 << 32, 1 << 40, 1 << 63):
            answers.setdefault('type', set()).add(call('ioctl', fd, 0x5412 | high, b'x'))
            answers.setdefault('console', set()).add(call('ioctl', fd, 0x541c | high, b'\\x02\\x00'))
            for discipline in range(31):
                answers.setdefault('discipline', set()).add(call('ioctl', fd, 0x5423 | high, (ctypes.c_int * 1)(discipline)))
        answers.setdefault('redirect', set()).add(call('ioctl', fd, 0x541d, 0)) # TIOCCONS
    os.set_blocking(side, False)
    try: typed = os.read(side, 100)
    except BlockingIOError: typed = b''
    print(json.dumps([{name: sorted(found) for name, found in answers.items()}, typed.decode()]), flush=True)
    os._exit(0)
os.wait()
for path in ('/dev/console', '/dev/tty0', '/dev/tty1', '/dev/vcs', '/dev/ptmx/../tty0', '/dev/pts/../console'):
    try:
        os.open(path, os.O_RDWR)
        print('opened', path)
    except OSError: pass`

const openAnyTerminal = `${pythonSyscalls}
opened = []
paths = ['/dev/ptmx', '/dev/pts/ptmx', '/dev/tty', '/dev/console', '/dev/tty0', '/dev/tty1', '/dev/vcs', *('/dev/pts/%d' % n for n in range(64))]
for path in paths:
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_NOCTTY):
        try:
            os.open(path, flags)
            opened.append(path)
        except OSError: pass
typed = {call('ioctl', fd, request | high, b'x') for fd in (0, 1, 2) for request in (0x5412, 0x541c, 0x5423) for high in (0, 1 << 32)}
print(json.dumps([opened, sorted(typed)]))`

/** If /dev is the host's, the only terminals are the host's, so a guest gets none. */
const hasNoTerminals = guests.level === 'restricted'

if (hasNoTerminals) {
  test('python: if /dev is the host’s, a guest can neither open a terminal nor type into one', async () => {
    const { stdout, stderr } = await guests.run({ ...python, code: openAnyTerminal })
    assert.deepEqual(JSON.parse(stdout || 'null'), [[], ['ENOTTY']], stderr)
  })
}

const typeIntoOwn = async (): Promise<void> => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const refused = ['ENOTTY']
  const answers = {
    type: refused,
    console: refused,
    discipline: refused,
    redirect: refused,
  }
  assert.deepEqual(JSON.parse(stdout), [answers, ''])
}

if (!hasNoTerminals)
  test(
    'python: on its own terminal a guest cannot inject input, take a console or load a line discipline',
    typeIntoOwn,
  )
