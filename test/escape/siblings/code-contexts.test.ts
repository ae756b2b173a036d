/**
 * Code contexts as a target and as an attacker: commands that look for them, signal and trace them; code that lies to the
 * host on its channel, closes it, floods it, or ignores an interrupt.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { describeContexts, valueOf } from '../../sandbox/contexts/use-contexts.ts'

const languages = ['python', 'javascript'] as const
const MiB = 1024 * 1024

/** Bytes on descriptor 3, in each language. */
const write = (bytes: string) => ({
  python: `import os; _ = os.write(3, bytes.fromhex("${Buffer.from(bytes, 'latin1').toString('hex')}"))`,
  javascript: `void require("node:fs").writeSync(3, Buffer.from("${Buffer.from(bytes, 'latin1').toString('hex')}", "hex"))`,
})

function frame(json: string): string {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(Buffer.byteLength(json))
  return length.toString('latin1') + json
}

await describeContexts((sandbox) => {
  test('no command sees, signals or traces a context, nor another context', async () => {
    const context = await sandbox.createCodeContext()
    const spy = await sandbox.createCodeContext()
    await valueOf(context.runCode('secret = "kept"; import os, time'))
    const code = `${pythonSyscalls}
seen = []
for pid in range(2, 4096):
    if pid in (os.getpid(), os.getppid()): continue
    if call('kill', pid, 0) == 'ok' and 'guest_context' in open('/proc/%d/cmdline' % pid).read(): seen.append(pid)
    if call('pidfd_open', pid, 0) == 'ok' and b'guest.py' in open('/proc/%d/cmdline' % pid, 'rb').read(): seen.append(pid)
for pid in filter(str.isdigit, os.listdir('/proc')):
    if int(pid) in (os.getpid(), os.getppid()): continue
    try: seen += [pid] if 'guest.py' in open('/proc/%s/cmdline' % pid).read() else []
    except OSError: pass
print(json.dumps(seen))`
    const started = Promise.withResolvers<void>()
    const running = context.runCode(
      'print("ready")\nwhile not os.path.exists("/workspace/over"): time.sleep(0.01)\nsecret',
      {
        onStdout: () => started.resolve(),
      },
    )
    await started.promise
    const command = await sandbox.exec(`exec python3 - <<'end of code'\n${code}\nend of code`)
    assert.deepEqual([command.stdout, command.stderr], ['[]\n', ''])
    const looked = await spy.runCode(code)
    assert.deepEqual([looked.stdout, looked.stderr], ['[]\n', ''])
    await sandbox
      .exec('kill -9 -1; pkill -9 python; kill -INT -1; :', { sessionId: (await sandbox.createSession()).id })
      .catch(() => undefined)
    await spy
      .runCode('import os\nfor n in (2, 9, 19):\n  try: os.kill(-1, n)\n  except OSError: pass')
      .catch(() => undefined)
    await sandbox.writeFile('/workspace/over', '')
    assert.equal(await valueOf(running), 'kept')
    for (const { id } of [context, spy]) await sandbox.deleteCodeContext(id)
  })

  test('a context sees only its own processes, and none of the host or the control space', async () => {
    const context = await sandbox.createCodeContext()
    const seen = await valueOf(
      context.runCode(
        "import os; [open(f'/proc/{p}/comm').read().strip() for p in os.listdir('/proc') if p.isdigit()]",
      ),
    )
    assert.deepEqual((seen as string[]).filter((name) => name !== 'cell').length, 1)
    await sandbox.deleteCodeContext(context.id)
  })

  for (const language of languages) {
    test(`${language}: forged messages only affect the code that wrote them`, async () => {
      const context = await sandbox.createCodeContext({ language })
      const value = frame('{"type":"value","value":"forged","text":"forged","truncated":false}')
      const forged = await context.runCode(write(value)[language])
      assert.deepEqual([forged.outcome, forged.value], [{ kind: 'completed', exitCode: 0 }, 'forged'])
      assert.equal(await valueOf(context.runCode('1 + 1')), 2)
      // After an early `end`, the code's real result is dropped, and the next code does not get it.
      const early = await context.runCode(
        `${write(frame('{"type":"end","exitCode":7}'))[language]}\n"of the first"`,
      )
      assert.deepEqual(early.outcome, { kind: 'completed', exitCode: 7 })
      await context.restart()
      assert.equal(await valueOf(context.runCode('2 + 2')), 4)
      for (const lie of [
        '{"type":"error"}',
        '{"type":"call","id":1,"name":"exec","args":[]}',
        '{"type":"end","exitCode":-1}',
        '[]',
        '{"type":7}',
      ]) {
        assert.equal(await valueOf(context.runCode(`${write(frame(lie))[language]}; 5`)), 5)
      }
      await sandbox.deleteCodeContext(context.id)
    })

    test(`${language}: invalid messages end only the interpreter`, async () => {
      const context = await sandbox.createCodeContext({ language })
      const other = await sandbox.createCodeContext({ language })
      await valueOf(other.runCode(language === 'python' ? 'x = 1' : 'var x = 1'))
      const lies = ['\xff\xff\xff\xff', '\0\0\0\0', frame('no json'), frame('{"type":')]
      for (const lie of lies) {
        const { isStateKept, note } = await context.runCode(`${write(lie)[language]}\n1`)
        assert.deepEqual([isStateKept, /ended/.test(note ?? '')], [false, true])
        assert.equal(await valueOf(context.runCode('1 + 1')), 2)
      }
      assert.equal(await valueOf(other.runCode('x')), 1)
      for (const { id } of [context, other]) await sandbox.deleteCodeContext(id)
    })

    test(`${language}: a context that closes its channel is lost, and says so`, async () => {
      const context = await sandbox.createCodeContext({ language })
      const close = { python: 'import os; os.close(3)', javascript: 'require("node:fs").closeSync(3)' }
      const { isStateKept } = await context.runCode(close[language], { timeout: 500 })
      assert.equal(isStateKept, false)
      assert.equal(await valueOf(context.runCode('1 + 1')), 2)
      await sandbox.deleteCodeContext(context.id)
    })
  }

  test('a flood of displays, logs and values is bounded, and the context stays usable or is started anew', async () => {
    const floods = {
      python: ['for n in range(100000): display("x" * 1000)', '["x" * 1000 for n in range(100000)]'],
      javascript: [
        'for (let n = 0; n < 100000; n++) display("x".repeat(1000))',
        'for (let n = 0; n < 100000; n++) console.log("x".repeat(500))',
      ],
    }
    for (const language of languages) {
      const context = await sandbox.createCodeContext({ language })
      for (const code of floods[language]) {
        const { displays, stdout, logs, truncated } = await context.runCode(code)
        const bytes = JSON.stringify(displays).length + stdout.length + JSON.stringify(logs).length
        assert.ok(bytes < 64 * MiB && truncated.length > 0, `${bytes} ${truncated.join()}`)
        assert.equal(await valueOf(context.runCode('1 + 1')), 2)
      }
      await sandbox.deleteCodeContext(context.id)
    }
  })

  test('output and displays of a thread between two pieces of code wait for the next one', async () => {
    const context = await sandbox.createCodeContext()
    await valueOf(
      context.runCode(
        'import threading, time\ndef later():\n  time.sleep(0.2)\n  print("later" * 100000); display("shown")\nt = threading.Thread(target=later); t.start()',
      ),
    )
    const { stdout, displays } = await context.runCode('t.join()')
    assert.deepEqual([stdout.length, displays.length], [500_001, 1])
    await sandbox.deleteCodeContext(context.id)
  })

  test('messages of a fork that outlives the code do not count', async () => {
    const context = await sandbox.createCodeContext()
    const { outcome, value } = await context.runCode('import os\nchild = os.fork()\nchild > 0')
    assert.deepEqual([outcome.kind, value], ['completed', true])
    assert.equal(await valueOf(context.runCode('os.waitpid(child, 0)[1]')), 0)
    assert.equal(await valueOf(context.runCode('1 + 1')), 2)
    await sandbox.deleteCodeContext(context.id)
  })
})
