import { Toolchains } from '../../src/runtimes/toolchains.ts'
import { describeRuntime } from './runtime.contract.ts'
import { bunPrograms, nodePrograms } from './runtime/javascript.programs.ts'
import { pythonPrograms } from './runtime/python.programs.ts'
import { shellPrograms } from './runtime/shell.programs.ts'

const toolchains = new Toolchains()

describeRuntime(shellPrograms, toolchains.shell() === null && 'neither bash nor sh is installed')
describeRuntime(pythonPrograms, toolchains.python() === null && 'python3 is not installed')
describeRuntime(bunPrograms, toolchains.bun() === null && 'bun is not installed')
describeRuntime(nodePrograms, toolchains.node() === null && 'node 24 is not installed')
