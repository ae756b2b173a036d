/** Node: JavaScript and TypeScript in one Node process. */
import { ownView } from '../../jail/plan/place.ts'
import { prepareJavaScript } from '../javascript/host.ts'
import type { Engine } from '../javascript/host.ts'
import { planJavaScriptZygote } from '../javascript/forks/host.ts'
import { readsLate } from '../work/late-variables.ts'
import { zygoteProof } from '../javascript/forks/proof.ts'
import type { Program, Runtime } from '../runtime.ts'

const MiB = 1024 * 1024

/** Each worker thread reserves 526 MiB for its code, which count as data. If the limit refuses that, V8 crashes. */
const workersMin = 4
/** Data that Node reserves before it runs anything. */
export const nodeDataBytes = (568 + workersMin * 526) * MiB

/** Guests run in the host's own Node, so there is one unless its file has gone, as after an update. */
export const noNode = () => ({
  detail: `The Node that runs Lazaret, ${process.execPath}, cannot be executed.`,
  hint: 'Start the program again with an installed Node, or name one in `toolchains.node`.',
})

const harnesses = {
  guest: 'runtimes/javascript/guest-node.js',
  zygote: 'runtimes/javascript/guest-node-zygote.cjs',
}

export const nodeRuntime: Runtime = {
  name: 'node',
  languages: ['javascript', 'typescript'],
  parks: 'program',
  readsLate: readsLate(/^(?:NODE_|V8_)/),
  toolchain: {
    find: (toolchains) => toolchains.node(),
    fix: () => noNode().hint,
    isShown: true,
  },
  zygote: {
    plan(wishes) {
      const { language, limits, packages, toolchains } = wishes
      if (process.arch !== 'x64' || toolchains.node() === null) return null
      const program = nodeRuntime.prepare({ language, code: '' }, limits, {
        toolchains,
        packages,
        place: ownView,
      })
      return planJavaScriptZygote(program, harnesses, wishes)
    },
    proof: zygoteProof,
    hasHeapLimit: true,
  },
  prepare(request, limits, { toolchains, packages, place }): Program {
    const binary = toolchains.node()
    if (binary === null) throw toolchains.refuse('node', noNode())
    // V8's own limit is higher than the run's, so that the cell's limit is reached first and leaves evidence.
    const heapMiB = Math.ceil((limits.memoryBytes * 1.25) / MiB) + 64
    const engine: Engine = {
      name: 'node',
      harness: harnesses.guest,
      compilesImports: true,
      binary,
      flags: () => [`--max-old-space-size=${heapMiB}`],
      env: {},
      baseDataBytes: nodeDataBytes,
    }
    return prepareJavaScript(request, limits, { engine, place, packages, toolchains })
  },
}
