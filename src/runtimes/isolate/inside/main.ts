/**
 * The code inside an isolate, bundled into one script (`scripts/build.ts`). It removes some globals, adds the few that a
 * program finds besides the language, and answers calls of the surrounding Node process (`protocol.ts`). The program cannot
 * reach any object of the harness.
 *
 * This code is evaluated once, in the realm of the snapshot from which every isolate starts. V8 adds some globals only when
 * it creates a realm from the snapshot; `open` handles those, before other code runs in the isolate.
 */
import { messageOf, stringIncludes } from '../../../core/primordials.ts'
import { closeGates, gateCodeMakers } from './code-makers.ts'
import { cutEnvironment, cutLateEnvironment } from './environment.ts'
import { createOutside, type OutsideList } from './outside.ts'
import type { HostCalls } from './host-calls.ts'
import { Modules } from './modules.ts'
import { createParts } from './parts.ts'
import { installStacks } from './places.ts'
import type { Inside, IsolateProgram } from './protocol.ts'
import { Running } from './run-program.ts'
import { addShims } from './shims/shims.ts'

/** The script around this bundle passes `platform` in, and reads `open` afterwards. */
declare const $lazaretInside: {
  readonly platform: { readonly addLateKinds: () => void }
  open: (...functions: OutsideList) => Inside
}

const parse = JSON.parse as (json: string) => IsolateProgram

const { outside, connect } = createOutside()
const openPart = createParts(outside, $lazaretInside.platform)
cutEnvironment()
gateCodeMakers()
const modules = new Modules(outside)
let running: Running | undefined
let calls: HostCalls | undefined
addShims({ outside, openPart, require: modules.require, hasLabels: () => running?.mode === 'service' })

/** The Node process passes its functions as separate arguments, because objects cannot cross. */
$lazaretInside.open = (...functions) => {
  connect(functions)
  $lazaretInside.platform.addLateKinds()
  cutLateEnvironment()
  installStacks()
  return inside
}

const inside: Inside = {
  load: (name) => modules.loadWhole(name),
  start(programJson) {
    const program = parse(programJson)
    const isTagged = program.mode === 'run'
    const isDecorated = stringIncludes(program.source, 'babelHelpers.')
    const values = isTagged || isDecorated || program.calls.length > 0 ? openPart('values') : undefined
    if (isDecorated) values?.installDecoratorHelpers()
    running = new Running(program, outside.settle, values)
    if (values !== undefined && program.calls.length > 0) calls = new values.HostCalls(outside, program)
    try {
      modules.prepare(program.source, program.allowed)
    } catch (thrown) {
      return running.unhandled({
        name: 'Error',
        message: `A library cannot be loaded: ${messageOf(thrown)}`,
      })
    }
    closeGates()
    if (isTagged) running.startRun(program)
    else running.startService(program)
  },
  answer: (id, isError, json) => calls?.answer(id, isError, json),
  unhandled: (name, message, stack) => running?.unhandled({ name, message, stack }),
}
