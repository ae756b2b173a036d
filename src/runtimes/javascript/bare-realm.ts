/**
 * A realm that contains only the language, for programs that must see no global of the platform. It is a `node:vm`
 * context. `bare/` is the code inside the context, and this file is the harness's side. The realm only hides names; the
 * cell decides what guest code may do. `bare/protocol.ts` defines what may pass between the two sides.
 */
import { dirname } from 'node:path'
import type { GuestRequest } from '../channel/channel-protocol.ts'
import { type BareHost, type BareInside, insideName, openName, type OpenInside } from './bare/protocol.ts'
import { sendEnd, sendError, sendValue } from './channel.ts'
import { compileOrExit } from './modules/compile-or-exit.ts'
import { compileProgram } from './modules/compile.ts'
import { createPrint } from './console/console.ts'
import { cutDeadEnds } from './realm/dead-ends.ts'
import { reportGuestError } from './errors.ts'
import { exitNow, listen, unsettledExitCode } from './failures.ts'
import { harnessPath } from './harness-path.ts'
import type { Realm } from './realm/own-realm.ts'
import { programName } from './modules/positions.ts'
import { installStackTraces, mapPositions, topPosition } from './modules/stack.ts'

const failureExitCode = 1
const insideFile = 'guest-bare.js'

/** A class, because class code is strict, and `caller` does not reveal strict functions to the functions that they call. */
class BareRealm implements Realm {
  readonly canEvaluate = false
  readonly inside: BareInside
  code = ''
  #isWaiting = false
  #hasFailed = false
  readonly #context: object
  readonly #options: object

  constructor() {
    const { constants, createContext, Script } = process.getBuiltinModule('node:vm')
    const { readFileSync } = process.getBuiltinModule('node:fs')
    // For code that belongs to no script, such as an `eval` that the engine itself calls.
    const refuseImport = (specifier: unknown): never => this.inside.refuseImport(specifier)
    this.#context = createContext(constants.DONT_CONTEXTIFY, { importModuleDynamically: refuseImport })
    const text = readFileSync(`${dirname(harnessPath)}/${insideFile}`, 'utf8')
    new Script(text, { filename: insideName }).runInContext(this.#context)
    const open = Reflect.get(this.#context, openName) as OpenInside
    this.inside = open(this.#createHost())
    // A function of the bare realm, so that an error of the engine's call belongs to the bare realm.
    this.#options = { filename: programName, importModuleDynamically: this.inside.refuseImport }
  }

  createScript = (text: string): (() => unknown) => {
    const { Script } = process.getBuiltinModule('node:vm')
    if (text.includes('babelHelpers.')) this.inside.addDecorators()
    const script = new Script(text, this.#options)
    return () => script.runInContext(this.#context, { displayErrors: false })
  }

  startModule = (main: unknown): unknown => this.inside.startModule(main)

  /** Ends the program at an uncaught error, or when it has nothing left to do. */
  watch(): void {
    listen('uncaughtException', (thrown) => this.inside.fail(thrown))
    listen('unhandledRejection', (reason) => this.inside.fail(reason))
    // Bun reports a promise that was rejected in its last callback only after `beforeExit`.
    listen('exit', () => {
      if (this.#hasFailed) return
      if (this.#isWaiting) this.#endUnsettled()
      else sendEnd(0)
    })
  }

  #endUnsettled(): void {
    sendError('run', {
      name: 'Error',
      message: 'The program awaits a promise that can no longer settle.',
    })
    sendEnd(unsettledExitCode)
    this.#hasFailed = true
    exitNow(unsettledExitCode)
  }

  #createHost(): BareHost {
    return {
      print: createPrint(),
      sendValue,
      mapPositions,
      setWaiting: (isWaiting) => {
        this.#isWaiting = isWaiting
      },
      fail: (name, message, stack) => {
        const position = stack === undefined ? undefined : topPosition(stack, `${name}: ${message}`)
        const error = { name, message, ...(stack === undefined ? {} : { stack }), ...position }
        reportGuestError(this.code, error, stack ?? `${name} ${message}`)
        sendEnd(failureExitCode)
        this.#hasFailed = true
        exitNow()
      },
    }
  }
}

let opened: BareRealm | undefined

/** Prepares what every run in a bare realm needs. Runs no guest code. */
export async function parkBare(language: GuestRequest['language']): Promise<void> {
  opened = new BareRealm()
  const sample = { language, code: '', args: [], resultBytes: 0 }
  for (const code of ['1', 'await 1', 'var a = 1']) await compileProgram({ ...sample, code }, opened)
  cutDeadEnds()
}

export async function runBare(request: GuestRequest): Promise<void> {
  const realm = (opened ??= new BareRealm())
  realm.code = request.code
  const program = await compileOrExit(request, realm)
  installStackTraces(program.toWritten)
  realm.watch()
  cutDeadEnds()
  realm.inside.begin({
    start: program.start,
    input: 'input' in request ? JSON.stringify(request.input) : undefined,
    resultBytes: request.resultBytes,
  })
}
