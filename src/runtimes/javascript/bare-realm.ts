/**
 * A realm with nothing but the language in it, for a program that is to find no names of the platform: a context of
 * `node:vm` with its own inside (`bare/`), and this, its way out. It hides names, and no more: what guest code may do,
 * the cell decides. `bare/protocol.ts` says what may pass between the two.
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

/** A class, because its code is strict, and strict functions are shown to nobody that they call. */
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
    // For code that no code has made, such as that of an `eval` which the engine itself calls.
    const refuseImport = (specifier: unknown): never => this.inside.refuseImport(specifier)
    this.#context = createContext(constants.DONT_CONTEXTIFY, { importModuleDynamically: refuseImport })
    const text = readFileSync(`${dirname(harnessPath)}/${insideFile}`, 'utf8')
    new Script(text, { filename: insideName }).runInContext(this.#context)
    const open = Reflect.get(this.#context, openName) as OpenInside
    this.inside = open(this.#createHost())
    // The realm's own function: the engine's calls of it are not the harness's.
    this.#options = { filename: programName, importModuleDynamically: this.inside.refuseImport }
  }

  createScript = (text: string): (() => unknown) => {
    const { Script } = process.getBuiltinModule('node:vm')
    if (text.includes('babelHelpers.')) this.inside.addDecorators()
    const script = new Script(text, this.#options)
    return () => script.runInContext(this.#context, { displayErrors: false })
  }

  startModule = (main: unknown): unknown => this.inside.startModule(main)

  /** Ends the program with an uncaught error, or when nothing is left to do. */
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
      message: 'The program awaits a promise that nothing can settle any more.',
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

/** What every such run needs; none of it runs guest code. */
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
