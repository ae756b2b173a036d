/** Node's part of the contract, in a separate file because Node starts slowest. It shares its harness with Bun. */
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { describeRuntime } from './runtime.contract.ts'
import { nodePrograms } from './runtime/javascript.programs.ts'

describeRuntime(nodePrograms, new Toolchains().node() === null && 'node 24 is not installed')
