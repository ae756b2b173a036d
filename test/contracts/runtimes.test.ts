/** The contract in cells that are built for each run; Node's part is in node-runtime.test.ts. */
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { describeRuntime } from './runtime.contract.ts'
import { bunPrograms } from './runtime/javascript.programs.ts'
import { pythonPrograms } from './runtime/python.programs.ts'
import { shellPrograms } from './runtime/shell.programs.ts'

const toolchains = new Toolchains()

describeRuntime(shellPrograms, toolchains.shell() === null && 'neither bash nor sh is installed')
describeRuntime(pythonPrograms, toolchains.python() === null && 'python3 is not installed')
describeRuntime(bunPrograms, toolchains.bun() === null && 'bun is not installed')
