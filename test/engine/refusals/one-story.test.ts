/**
 * No door bypasses the policy. The test finds the doors in the package's `exports`, and the methods on what they
 * return. So a new one fails here until it is tried, or listed below with the reason why it is free.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { errorTable } from '../../../src/core/errors/errors.ts'
import { createLazaret } from '../../../src/index.ts'
import type { Work } from '../../../src/index.ts'
import { exportsWithoutWork, listExports } from '../../support/sources/package-exports.ts'

type Doors = Readonly<Record<string, () => unknown>>
type Free = Readonly<Record<string, string>>

const asked: Work[] = []
let isClosed = false
const admit = (work: Work): void => {
  asked.push(work)
  if (isClosed) throw new Error('closed for today')
}
const lazaret = createLazaret({
  onEvent: () => undefined,
  admit,
})
after(() => lazaret[Symbol.asyncDispose]())

/** The policy, and nothing before it, must refuse each of them. */
async function tryDoors(doors: Doors): Promise<void> {
  isClosed = true
  try {
    for (const [name, enter] of Object.entries(doors)) {
      asked.length = 0
      await assert.rejects(async () => enter(), { code: 'NOT_ADMITTED', message: /closed for today/ }, name)
      assert.equal(asked.length, 1, `${name} asked the policy ${asked.length} times`)
    }
  } finally {
    isClosed = false
  }
}

function methodsOf(value: object): string[] {
  const names = new Set<string>()
  for (let at: object = value; at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    for (const [name, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof method === 'function' && name !== 'constructor') names.add(name)
  return [...names].toSorted()
}

/** Every method of the object must be a door, or free for a reason. */
async function tryMethods(of: object, { doors, free = {} }: { doors: Doors; free?: Free }): Promise<void> {
  assert.deepEqual(methodsOf(of), [...Object.keys(doors), ...Object.keys(free)].toSorted())
  await tryDoors(doors)
}

async function first(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) {
    const { type, error } = event as { type?: string; error?: unknown }
    if (type === 'error') throw error
  }
}

test('every export of the package asks the policy, or begins no work', async () => {
  const { runSnippet, snippetTool, warmUpSnippets } =
    await import('../../../src/adapters/snippet-tool/index.ts')
  const { MessageRouter, SubprocessCodeExecutionActor, WorkerCodeExecutionActor } =
    await import('../../../src/adapters/actor/index.ts')
  const { CodeExecutionService, WorkerPool } = await import('../../../src/adapters/code-execution/index.ts')
  const { createAgentExecutor, InputValidator, SubprocessExecutor } =
    await import('../../../src/adapters/agent/index.ts')
  await using agent = createAgentExecutor(lazaret)
  await using validator = new InputValidator({ lazaret })
  const subprocess = new SubprocessExecutor({ lazaret })
  const python = { code: '1', language: 'python' } as const
  const source = 'emit(1)'
  const options = { engine: { admit } }
  const [service, pool] = [new CodeExecutionService(options), new WorkerPool(options)]
  const program = { code: '1', language: 'javascript' } as const
  await using worker = new WorkerCodeExecutionActor(new MessageRouter(), 5000, { lazaret })
  await using actor = new SubprocessCodeExecutionActor(new MessageRouter(), 5000, { lazaret })
  const doors: Doors = {
    runSnippet: () => runSnippet({ source }),
    snippetTool: () => snippetTool.run({ source }),
    warmUpSnippets,
    SubprocessCodeExecutionActor: () =>
      throwAnswer(actor.receive({ type: 'execute', payload: { code: '1' } })),
    WorkerCodeExecutionActor: () => throwAnswer(worker.receive({ type: 'execute', payload: { code: '1' } })),
    CodeExecutionService: () => throwAnswer(service.execute(program)),
    WorkerPool: () => throwAnswer(pool.execute(program)),
    createAgentExecutor: () => throwAnswer(agent.execute(program)),
    SubprocessExecutor: () => subprocess.execute(program),
    InputValidator: () => validator.validate('1', 'python'),
  }
  assert.deepEqual(
    await listExports(),
    [...Object.keys(doors), ...Object.keys(exportsWithoutWork)].toSorted(),
  )
  await tryDoors(doors)
  await tryMethods(actor, {
    doors: { warmUp: () => actor.warmUp(), receive: doors['SubprocessCodeExecutionActor'] as () => unknown },
    free: { dispose: 'ends work' },
  })
  await tryMethods(agent, {
    doors: { execute: doors['createAgentExecutor'] as () => unknown, warmUp: () => agent.warmUp() },
  })
  await tryDoors({ 'an execution that is validated in a cell': () => throwAnswer(agent.execute(python)) })
  await tryMethods(validator, {
    doors: { validate: doors['InputValidator'] as () => unknown, warmUp: () => validator.warmUp() },
  })
  await tryMethods(subprocess, { doors: { execute: doors['SubprocessExecutor'] as () => unknown } })
  const methods = {
    initialize: () => service.initialize(),
    execute: doors['CodeExecutionService'] as () => unknown,
  }
  const looks = { getStats: 'looks', shutdown: 'ends work' }
  await tryMethods(pool, { doors: { ...methods, initialize: () => pool.initialize() }, free: looks })
  await tryMethods(service, {
    doors: { ...methods, executeCodeAction: () => throwAnswer(service.executeCodeAction(program)) },
    free: {
      ...looks,
      isModuleAllowed: 'tells of what is allowed',
      getAllowedModuleNames: 'tells of what is allowed',
      getLibrarySource: 'tells of what is allowed',
    },
  })
})

/** Throws the error of a door that answers with a text. */
async function throwAnswer(answer: Promise<{ readonly error?: string | undefined }>): Promise<never> {
  const { error = 'none: ' } = await answer
  throw Object.assign(new Error(error), {
    code: error.startsWith(errorTable.NOT_ADMITTED.message) ? 'NOT_ADMITTED' : 'another',
  })
}

test('every method of a Lazaret asks the policy, or begins no work', async () => {
  const language = 'javascript'
  await tryMethods(lazaret, {
    doors: {
      run: () => lazaret.run({ language, code: '1' }),
      sandbox: () => lazaret.sandbox(),
      warmUp: () => lazaret.warmUp({ language: 'python' }),
    },
    free: {
      listSandboxes: 'looks',
      releaseWorkers: 'ends work',
      close: 'ends work',
      stats: 'looks',
      probe: "the operator's own look at the machine; it runs nothing of a guest's",
    },
  })
  const runtimes = ['bun', 'node', 'snippet', 'isolate'] as const
  await tryDoors(
    Object.fromEntries(
      runtimes.map((runtime) => [runtime, () => lazaret.run({ language, code: '1', runtime })]),
    ),
  )
  await tryDoors({ snippets: () => lazaret.warmUp({ language, runtime: 'snippet' }) })
})

test('every method of a sandbox, its sessions and its processes asks the policy, or begins no work', async () => {
  await using sandbox = await lazaret.sandbox({ files: { a: 'x' } })
  const session = await sandbox.createSession({ id: 'one' })
  const server = await sandbox.startProcess('cat')
  const path = '/workspace/a'
  // Without namespaces there are no contexts.
  const context = await sandbox.createCodeContext({ id: 'mine' }).catch(() => undefined)
  await tryMethods(sandbox, {
    doors: {
      createCodeContext: () => sandbox.createCodeContext(),
      startJupyter: () => sandbox.startJupyter(),
      runCode: () => sandbox.runCode('1', context === undefined ? {} : { context }),
      exec: () => sandbox.exec('true'),
      execStream: () => first(sandbox.execStream('true')),
      startProcess: () => sandbox.startProcess('true'),
      exposePort: () => sandbox.exposePort(3000),
      writeFile: () => sandbox.writeFile(path, ''),
      readFile: () => sandbox.readFile(path),
      readFileStream: () => first(sandbox.readFileStream(path)),
      mkdir: () => sandbox.mkdir('/workspace/b'),
      listFiles: () => sandbox.listFiles(),
      stat: () => sandbox.stat(path),
      exists: () => sandbox.exists(path),
      deleteFile: () => sandbox.deleteFile(path),
      renameFile: () => sandbox.renameFile(path, '/workspace/c'),
      moveFile: () => sandbox.moveFile(path, '/workspace/c'),
      uploadTar: () => sandbox.uploadTar(Buffer.alloc(1024)),
      downloadTar: () => first(sandbox.downloadTar()),
      uploadFolder: () => sandbox.uploadFolder('/usr/share/zoneinfo/Etc'),
      downloadFolder: () => sandbox.downloadFolder('/nowhere/it/may/be'),
    },
    free: {
      listCodeContexts: 'looks',
      getCodeContext: 'looks',
      deleteCodeContext: 'ends work',
      createSession: 'a name and a folder; its commands are work',
      getSession: 'looks',
      deleteSession: 'ends work',
      setEnvVars: 'waits for the next command, which is work',
      listProcesses: 'looks',
      getProcess: 'looks',
      killProcess: 'ends work',
      killAllProcesses: 'ends work',
      destroy: 'ends work',
    },
  })
  await tryDoors({ 'exec with credentials': () => sandbox.exec('true', { env: { TOKEN: 'x' } }) })
  await tryMethods(session, { doors: { exec: () => session.exec('true') } })
  if (context !== undefined)
    await tryMethods(context, {
      doors: {
        runCode: () => context.runCode('1'),
        restart: () => context.restart(),
        fork: () => context.fork(),
      },
      free: { interrupt: 'ends work', complete: 'looks at what is there, and runs nothing' },
    })
  await tryMethods(server, {
    doors: {},
    free: Object.fromEntries(
      methodsOf(server).map((name) => [name, 'of a process that the policy has admitted']),
    ),
  })
})

test('an environment is built in a sandbox, which the policy is asked about', async () => {
  const spec = { offline: true, findLinks: ['/usr/share'], python: ['six'] }
  await tryDoors({ create: () => lazaret.environments.create('none', spec) })
})

test('a policy sees what is requested and by whom, but never a secret', async () => {
  asked.length = 0
  // Without namespaces nothing hides the secret from the sandbox's other commands, but here there are none.
  await using sandbox = await lazaret.sandbox({ id: 'told', client: 'ada', allowDegradedSecrets: true })
  await sandbox.exec('true', { env: { TOKEN: 'hunter2' } })
  await lazaret.run({ language: 'shell', code: ':', client: 'bob', functions: undefined as never })
  const reported = asked.map(({ kind, client }) => [kind, client])
  assert.deepEqual(reported, [
    ['sandbox', 'ada'],
    ['command', 'ada'],
    ['run', 'bob'],
  ])
  assert.equal(JSON.stringify(asked).includes('hunter2'), false)
  assert.deepEqual(asked[1], { ...asked[1], sandbox: 'told', command: 'true', credentials: ['TOKEN'] })
  assert.deepEqual(structuredClone(asked), asked)
})

test('each piece of work is reported once, with its end', async () => {
  const events: unknown[] = []
  await using own = createLazaret({
    admit: (work) => {
      if (work.kind === 'run' && work.client === 'mallory') throw new Error('no')
    },
    onEvent: (event) => {
      if (event.type === 'work-ended') events.push([event.kind, event.outcome, event.code])
    },
  })
  await own.run({ language: 'shell', code: 'exit 3' })
  await own.run({ language: 'shell', code: ':', client: 'mallory' }).catch(() => undefined)
  const sandbox = await own.sandbox()
  await sandbox.exec('sleep 9', { timeout: 50 })
  await sandbox.readFile('/workspace/none').catch(() => undefined)
  const process = await sandbox.startProcess('exit 4')
  await process.waitForExit()
  await sandbox.destroy()
  assert.deepEqual(events, [
    ['run', 'completed', undefined],
    ['run', 'refused', 'NOT_ADMITTED'],
    ['sandbox', 'done', undefined],
    ['command', 'timed-out', undefined],
    ['files', 'refused', 'FILE_NOT_FOUND'],
    ['process', 'completed', undefined],
  ])
  assert.equal(own.stats().running, 0)
})

test('a policy that never answers delays neither a caller that gives up nor the end', async () => {
  const own = createLazaret({ onEvent: () => undefined, admit: () => new Promise(() => undefined) })
  const abort = new AbortController()
  const given = own.run({ language: 'shell', code: ':', signal: abort.signal })
  const left = own.run({ language: 'shell', code: ':' })
  const others = [own.sandbox(), own.warmUp({ language: 'shell' })].map((work) =>
    assert.rejects(work, { code: 'DISPOSED' }),
  )
  abort.abort()
  assert.deepEqual((await given).outcome, { kind: 'cancelled' })
  await own[Symbol.asyncDispose]()
  assert.deepEqual((await left).outcome, { kind: 'cancelled' })
  await Promise.all(others)
})
