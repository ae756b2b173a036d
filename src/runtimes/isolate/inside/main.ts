/**
 * The inside of an isolate: bundled into one script (`scripts/build.ts`), it is evaluated in every fresh one, before anything
 * else. It takes out what does not belong there, adds the few things that a program finds besides the language, and answers
 * the calls of the Node process around it (`protocol.ts`). None of its own objects is in reach of the program.
 */
import { messageOf, stringIncludes } from '../../../core/primordials.ts'
import { closeGates, gateCodeMakers } from './code-makers.ts'
import { cutEnvironment } from './environment.ts'
import { guarded } from './guarded.ts'
import type { HostCalls } from './host-calls.ts'
import { Modules } from './modules.ts'
import { createParts } from './parts.ts'
import { installStacks } from './places.ts'
import type { Inside, IsolateProgram, Outside } from './protocol.ts'
import { Running } from './run-program.ts'
import { addShims } from './shims.ts'

/** What the script around this bundle gives, and where it looks for what this bundle gives. */
declare const $lazaretInside: {
  readonly platform: object
  open: (
    ...functions: [Outside['log'], Outside['call'], Outside['random'], Outside['librarySource']]
  ) => Inside
}

const parse = JSON.parse as (json: string) => IsolateProgram

/** The Node process gives its functions one by one, because objects do not pass. */
$lazaretInside.open = (...functions) => {
  const [log, call, random, librarySource] = functions
  const outside = guarded({ log, call, random, librarySource })
  const openPart = createParts(outside, $lazaretInside.platform)
  cutEnvironment()
  gateCodeMakers()
  installStacks()
  const modules = new Modules(outside)
  let running: Running | undefined
  let calls: HostCalls | undefined
  const hasLabels = (): boolean => running?.mode === 'service'
  addShims({ outside, openPart, require: modules.require, hasLabels })
  return {
    load: (name) => modules.loadWhole(name),
    start(programJson) {
      const program = parse(programJson)
      const isTagged = program.mode === 'run'
      const isDecorated = stringIncludes(program.source, 'babelHelpers.')
      const values = isTagged || isDecorated || program.calls.length > 0 ? openPart('values') : undefined
      if (isDecorated) values?.installDecoratorHelpers()
      running = new Running(program, values)
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
    outcome: () => running?.outcome ?? `{"state":"pending","calls":${calls?.open ?? 0}}`,
    unhandled: (name, message, stack) => running?.unhandled({ name, message, stack }),
  }
}
