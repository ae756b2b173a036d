/** The same suite again, where each run finds a worker that waits for it. */
import { createLazaret } from '../../src/index.ts'
import { Toolchains } from '../../src/runtimes/toolchains.ts'
import { canFindOne, runParked } from '../support/run-parked.ts'
import { describeRuntime } from './runtime.contract.ts'
import type { RuntimeDriver } from './runtime.contract.ts'
import { bunPrograms, nodePrograms } from './runtime/javascript.programs.ts'
import { pythonPrograms } from './runtime/python.programs.ts'
import { shellPrograms } from './runtime/shell.programs.ts'

function driveParked(): RuntimeDriver {
  const lazaret = createLazaret()
  const run = runParked(lazaret)
  return {
    run: (request) => (canFindOne(request) ? run(request) : lazaret.run(request)),
    dispose: () => lazaret[Symbol.asyncDispose](),
  }
}

const toolchains = new Toolchains()
const parked = { drive: driveParked, how: ', parked' }

describeRuntime(shellPrograms, toolchains.shell() === null && 'neither bash nor sh is installed', parked)
describeRuntime(pythonPrograms, toolchains.python() === null && 'python3 is not installed', parked)
describeRuntime(bunPrograms, toolchains.bun() === null && 'bun is not installed', parked)
describeRuntime(nodePrograms, toolchains.node() === null && 'node 24 is not installed', parked)
