/** The contract in cells that are built for each run; the parts of Bun and Node are in bun-runtime.test.ts and node-runtime.test.ts. */
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { describeRuntime } from './runtime.contract.ts'
import { pythonPrograms } from './runtime/python.programs.ts'
import { shellPrograms } from './runtime/shell.programs.ts'

const toolchains = new Toolchains()

describeRuntime(shellPrograms, toolchains.shell() === null && 'neither bash nor sh is installed')
describeRuntime(pythonPrograms, toolchains.python() === null && 'python3 is not installed')
