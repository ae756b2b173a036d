/**
 * The same suite again, through `lazaret/client` and a real server, which callers choose in one line. The server treats
 * all runtimes alike, so it is enough to test one with a harness, and the shell, which has none.
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
