/**
 * No door leads past the policy. The doors are found by reflection from the package's `exports`, and the methods from what
 * they return, so that a new one fails here until it is tried, or its reason to be free stands below.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { errorTable } from '../../src/core/errors.ts'
import { createLazaret } from '../../src/index.ts'
import type { Work } from '../../src/index.ts'
import { checkoutRoot, readText } from '../support/checkout.ts'

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

/** Each must be refused by the policy, and by nothing before it. */
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

/** All methods of it are doors, or free for a reason. */
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

test('every export of the package is a door that asks the policy, or begins no work', async () => {
  const { exports } = JSON.parse(readText('package.json')) as { exports: Record<string, unknown> }
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry !== null ? [Reflect.get(entry, 'default') as string] : [],
  )
  const modules = await Promise.all(
    entries.map(
      (path) => import(join(checkoutRoot, path.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))),
    ),
  )
  const found = modules.flatMap((module) => Object.keys(module as object)).toSorted()
  const { runSnippet, snippetTool, warmUpSnippets } = await import('../../src/adapters/snippet-tool/index.ts')
  const { MessageRouter, SubprocessCodeExecutionActor, WorkerCodeExecutionActor } =
    await import('../../src/adapters/actor/index.ts')
  const { CodeExecutionService, WorkerPool } = await import('../../src/adapters/code-execution/index.ts')
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
  }
  const free: Free = {
    createLazaret: 'its methods are the doors',
    LazaretError: 'an error',
    Unserializable: 'a value',
    MessageRouter: 'hands messages to actors',
    endSnippetThreads: 'ends work',
    ExecutionMonitor: 'hears of ends',
    LazaretMetrics: 'hears of ends',
    traceWork: 'hears of ends',
    canonicalJson: 'writes a text',
    createReceiptKeys: 'makes keys',
    verifyAudit: 'looks',
    verifyReceipt: 'looks',
    getAllowedModuleNames: 'tells of what is allowed',
    getLibrarySource: 'tells of what is allowed',
    isModuleAllowed: 'tells of what is allowed',
  }
  assert.deepEqual(found, [...Object.keys(doors), ...Object.keys(free)].toSorted())
  await tryDoors(doors)
  await tryMethods(actor, {
    doors: { warmUp: () => actor.warmUp(), receive: doors['SubprocessCodeExecutionActor'] as () => unknown },
    free: { dispose: 'ends work' },
  })
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

/** Of doors that answer with a text. */
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
      drain: 'ends work',
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
  await tryMethods(sandbox, {
    doors: {
      exec: () => sandbox.exec('true'),
      execStream: () => first(sandbox.execStream('true')),
      startProcess: () => sandbox.startProcess('true'),
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
    },
    free: {
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
  await tryMethods(server, {
    doors: {},
    free: Object.fromEntries(
      methodsOf(server).map((name) => [name, 'of a process that the policy has admitted']),
    ),
  })
})

test('a policy is told what is asked, by whom, and never a secret', async () => {
  asked.length = 0
  // Where there are no namespaces, nothing keeps the secret from the sandbox's other commands. Here there are none.
  await using sandbox = await lazaret.sandbox({ id: 'told', client: 'ada', allowDegradedSecrets: true })
  await sandbox.exec('true', { env: { TOKEN: 'hunter2' } })
  await lazaret.run({ language: 'shell', code: ':', client: 'bob', functions: undefined as never })
  const told = asked.map(({ kind, client }) => [kind, client])
  assert.deepEqual(told, [
    ['sandbox', 'ada'],
    ['command', 'ada'],
    ['run', 'bob'],
  ])
  assert.equal(JSON.stringify(asked).includes('hunter2'), false)
  assert.deepEqual(asked[1], { ...asked[1], sandbox: 'told', command: 'true', credentials: ['TOKEN'] })
  assert.deepEqual(structuredClone(asked), asked)
})

test('each piece of work is told of once, with how it ended', async () => {
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

test('a policy that never answers keeps nobody: not who gives up, and not the end', async () => {
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
