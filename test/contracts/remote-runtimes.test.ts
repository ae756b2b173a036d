/**
 * The same suite again, through `lazaret/client` and a real server: what is a line's difference for callers. The server
 * passes on what a runtime says and knows none of them, so one with a harness and the shell, which has none, stand for all.
 */
import { connectLazaret } from '../../src/adapters/client/index.ts'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { adaToken, serveHere } from '../adapters/http/serve-here.ts'
import { describeRuntime } from './runtime.contract.ts'
import type { RuntimeDriver } from './runtime.contract.ts'
import { pythonPrograms } from './runtime/python.programs.ts'
import { shellPrograms } from './runtime/shell.programs.ts'

function driveRemotely(): RuntimeDriver {
  const serving = serveHere()
  const connecting = serving.then(({ url }) => connectLazaret({ url, token: adaToken }))
  return {
    run: async (request) => (await connecting).run(request),
    dispose: async () => (await serving)[Symbol.asyncDispose](),
  }
}

const toolchains = new Toolchains()
const remote = { drive: driveRemotely, how: ', over HTTP' }

describeRuntime(shellPrograms, toolchains.shell() === null && 'neither bash nor sh is installed', remote)
describeRuntime(pythonPrograms, toolchains.python() === null && 'python3 is not installed', remote)
