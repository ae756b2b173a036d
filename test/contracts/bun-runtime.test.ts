/** Bun's part of the contract; test/runtimes/javascript/ tests the details of its harness. */
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { describeRuntime } from './runtime.contract.ts'
import { bunPrograms } from './runtime/javascript.programs.ts'

describeRuntime(bunPrograms, new Toolchains().bun() === null && 'bun is not installed')
