/** The same suite again, with a parked worker for each run. */
import type { PoolSizes } from '../../src/index.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { levelHere } from '../support/machine/level-here.ts'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { canBeParked, runParked } from '../support/run-parked.ts'
import { noPools } from '../support/use-lazaret.ts'
import { describeRuntime } from './runtime.contract.ts'
import type { RuntimeDriver } from './runtime.contract.ts'
import { bunPrograms, nodePrograms } from './runtime/javascript.programs.ts'
import { pythonPrograms } from './runtime/python.programs.ts'
import { shellPrograms } from './runtime/shell.programs.ts'

function driveParked(pools: PoolSizes = {}): RuntimeDriver {
  const lazaret = createLazaret({ pools })
  const cold = createLazaret({ pools: noPools })
  const run = runParked(lazaret)
  return {
    run: (request) => (canBeParked(request) ? run(request) : cold.run(request)),
    async dispose() {
      await Promise.all([lazaret, cold].map((one) => one[Symbol.asyncDispose]()))
    },
  }
}

const toolchains = new Toolchains()
const parked = {
  drive: () => driveParked({ bun: { forks: false }, node: { forks: false } }),
  how: ', parked',
}
/** Without namespaces there are no forks, and these tests would repeat those with parked workers. */
const canFork = (await levelHere()) !== 'restricted'
/** test/jail/cell/engine-forks.test.ts checks which runs must be forks. */
const forked = { drive: () => driveParked(), how: ', forked' }

describeRuntime(shellPrograms, toolchains.shell() === null && 'neither bash nor sh is installed', parked)
describeRuntime(pythonPrograms, toolchains.python() === null && 'python3 is not installed', parked)
describeRuntime(bunPrograms, toolchains.bun() === null && 'bun is not installed', parked)
if (canFork) describeRuntime(bunPrograms, toolchains.bun() === null && 'bun is not installed', forked)
describeRuntime(nodePrograms, toolchains.node() === null && 'node 24 is not installed', parked)
if (canFork) describeRuntime(nodePrograms, toolchains.node() === null && 'node 24 is not installed', forked)
