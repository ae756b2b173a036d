/**
 * The defaults without any option: from the packed tarball, in an empty project, as root and as an unprivileged user.
 * Everything is denied by default; weaker settings need an explicit option.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PackedProject, plainUserId } from './support/sources/packed-project.ts'
import { WithoutLayers } from './support/hosts/without-layer.ts'

const project = new PackedProject()
const without = new WithoutLayers()
after(() => {
  project[Symbol.dispose]()
  without[Symbol.dispose]()
})

const isRoot = process.getuid?.() === 0
const users = isRoot ? [undefined, plainUserId] : [undefined]

for (const userId of users) {
  const who = userId === undefined ? 'who started the tests' : `uid ${userId}`
  const ask = (program: string, before: readonly string[] = []) =>
    project.ask(program, { userId, before }) as Record<string, unknown>

  test(`below standard a run of ${who} is refused with the fix, and with the option that accepts less`, () => {
    // Root needs no user namespace for its namespaces, unless it lacks CAP_SYS_ADMIN, too.
    const lacking = without.command(['user-namespaces', ...(isRoot ? (['sys-admin'] as const) : [])], [])
    const { refused, accepted } = ask(
      `import { createLazaret } from 'lazaret'
const attempt = async (options) => {
  await using lazaret = createLazaret(options)
  const request = { language: 'shell', code: 'echo hi' }
  return await lazaret.run(request).then(({ receipt }) => receipt.protection, (error) => error)
}
const accepted = await attempt({ minimumProtection: 'restricted' })
console.log(JSON.stringify({ refused: await attempt(), accepted }))`,
      lacking,
    )
    assert.equal(accepted, 'restricted')
    const { code, message, hint } = refused as Record<string, string>
    assert.equal(code, 'JAIL_UNAVAILABLE')
    assert.match(String(message), /This machine reaches level restricted at most; standard is required\./)
    assert.match(String(hint), /^[^`]+.*`minimumProtection: 'restricted'`, or `--minimum restricted`/s)
    const { status, stdout, stderr } = project.use('lazaret', ['run', '-l', 'shell', '-e', 'echo hi'], {
      userId,
      before: lacking,
    })
    assert.deepEqual([status === 0, stdout], [false, ''])
    assert.match(stderr, /--minimum restricted/)
    const less = project.use('lazaret', ['run', '--minimum', 'restricted', '-l', 'shell', '-e', 'echo hi'], {
      userId,
      before: lacking,
    })
    assert.equal(less.stdout, 'hi\n')
  })

  test(`a request of ${who} beyond its own work is denied until the operator allows it`, () => {
    const answers = ask(`import { createLazaret } from 'lazaret'
await using lazaret = createLazaret()
await using generous = createLazaret({ access: { networks: ['none', 'host'], preload: true } })
const run = (one, more) => one.run({ language: 'python', code: '1', ...more }).then(({ ok }) => ok, ({ code }) => code)
const codes = {
  network: await run(lazaret, { network: 'host' }),
  preload: await run(lazaret, { preload: ['json'] }),
  sandboxNetwork: await lazaret.sandbox({ network: 'host' }).catch(({ code }) => code),
  workspace: await lazaret.sandbox({ workspace: '/tmp' }).catch(({ code }) => code),
  readable: await lazaret.sandbox({ readable: [{ host: '/tmp', guest: '/data' }] }).catch(({ code }) => code),
  allowed: [await run(generous, { network: 'host' }), await run(generous, { preload: ['json'] })],
}
console.log(JSON.stringify(codes))`)
    const { allowed, ...denied } = answers
    assert.deepEqual(new Set(Object.values(denied)), new Set(['ACCESS_DENIED']))
    assert.deepEqual(allowed, [true, true])
  })

  test(`a command of ${who} ends after 120 s unless its caller changes that`, () => {
    // The process's own clock, except that two minutes pass at once.
    const answers = ask(`import { createLazaret } from 'lazaret'
const waits = []
const clock = {
  now: () => performance.now(),
  timestamp: () => new Date().toISOString(),
  after(ms, callback) {
    waits.push(ms)
    const timer = setTimeout(callback, ms === 120_000 ? 50 : ms)
    return () => clearTimeout(timer)
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms).unref()
    return () => clearInterval(timer)
  },
  id: () => crypto.randomUUID(),
}
await using lazaret = createLazaret({ clock })
await using sandbox = await lazaret.sandbox()
const { outcome, exitCode } = await sandbox.exec('sleep 60')
waits.length = 0
const { success } = await sandbox.exec('sleep 0.2', { timeout: null })
console.log(JSON.stringify({ outcome, exitCode, success, isTimed: waits.includes(120_000) }))`)
    assert.deepEqual(answers, {
      outcome: { kind: 'timed-out', limit: 'wall', limitMs: 120_000 },
      exitCode: 124,
      success: true,
      isTimed: false,
    })
  })

  test(`defaults above the ceilings are lowered for ${who}, and the receipt says so`, () => {
    const answers = ask(`import { createLazaret } from 'lazaret'
const ceilings = { wallMs: 5000, processesMax: 32 }
await using lazaret = createLazaret({ defaults: { wallMs: 60_000 }, ceilings })
const { receipt } = await lazaret.run({ language: 'shell', code: 'true' })
const { limits, clamped } = receipt
console.log(JSON.stringify([limits.wallMs.value, limits.processesMax.value, clamped]))`)
    assert.deepEqual(answers, [5000, 32, ['wallMs']])
  })

  test(`runs and sandboxes of ${who} have the same Python, and the operator chooses which`, () => {
    const answers = ask(`import { createLazaret } from 'lazaret'
const askBoth = async (options) => {
  await using lazaret = createLazaret(options)
  await using sandbox = await lazaret.sandbox()
  const code = 'import sys; sys.version'
  const { value } = await lazaret.run({ language: 'python', code })
  const { stdout } = await sandbox.exec('python3 -c "import sys; print(sys.version)"')
  return [value, stdout.trimEnd()]
}
const chosen = { toolchains: { python: '/usr/bin/python3' } }
console.log(JSON.stringify({ usual: await askBoth(), chosen: await askBoth(chosen) }))`)
    for (const [ofRun, ofSandbox] of Object.values(answers) as [string, string][])
      assert.deepEqual([ofRun, typeof ofRun], [ofSandbox, 'string'])
  })
}
