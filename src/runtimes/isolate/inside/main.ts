/**
 * The inside of an isolate: bundled into one script (`scripts/build.ts`), it is evaluated in every fresh one, before anything
 * else. It takes out what does not belong there, adds the few things that a program finds besides the language, and answers
 * the calls of the Node process around it (`protocol.ts`). None of its own objects is in reach of the program.
 */
import '../../javascript/bare/platform.ts'
import { messageOf } from '../../../core/primordials.ts'
import { closeGates, gateCodeMakers } from './code-makers.ts'
import { cutEnvironment } from './environment.ts'
import { guarded } from './guarded.ts'
import { HostCalls } from './host-calls.ts'
import { Modules } from './modules.ts'
import { installStacks } from './places.ts'
import type { Inside, IsolateProgram, Outside } from './protocol.ts'
import { Running } from './run-program.ts'
import { addConsole, addShims } from './shims.ts'

/** Where the script around this bundle looks for what it gives. */
declare const $lazaretInside: {
  open: (
    ...functions: [Outside['log'], Outside['call'], Outside['random'], Outside['librarySource']]
  ) => Inside
}

const parse = JSON.parse as (json: string) => IsolateProgram

/** The Node process gives its functions one by one, because objects do not pass. */
$lazaretInside.open = (...functions) => {
  const [log, call, random, librarySource] = functions
  const outside = guarded({ log, call, random, librarySource })
  cutEnvironment()
  gateCodeMakers()
  installStacks()
  const modules = new Modules(outside)
  const calls = new HostCalls(outside)
  addShims(outside, modules.require)
  let running: Running | undefined
  return {
    load(name) {
      if (modules.load(name) === undefined) throw new Error(`There is no library ${name}`)
    },
    start(programJson) {
      const program = parse(programJson)
      running = new Running(program)
      addConsole(outside, program.mode)
      calls.define(program)
      try {
        modules.prepare(program.source, program.allowed)
      } catch (thrown) {
        return running.unhandled({
          name: 'Error',
          message: `A library cannot be loaded: ${messageOf(thrown)}`,
        })
      }
      closeGates()
      if (program.mode === 'service') running.startService(program)
      else running.startRun(program)
    },
    answer: (id, isError, json) => calls.answer(id, isError, json),
    outcome: () => running?.outcome ?? `{"state":"pending","calls":${calls.open}}`,
    unhandled: (name, message, stack) => running?.unhandled({ name, message, stack }),
  }
}
