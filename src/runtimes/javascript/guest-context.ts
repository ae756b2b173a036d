/** The harness of a code context in Node. This thread runs the code; a second thread reads the host's messages. */
import './modules/workspace-modules.ts'
import { harnessPath } from './harness-path.ts'
import { sendEnd } from './channel.ts'
import { Context, refuse } from './context/context.ts'
import type { ContextRequest } from './context/protocol.ts'

const { MessageChannel, Worker } = process.getBuiltinModule('node:worker_threads')
const exit: (code: number) => never = process.exit.bind(process)
const running = new Int32Array(new SharedArrayBuffer(4))
const { port1, port2 } = new MessageChannel()
const reader = new Worker(`${harnessPath.slice(0, harnessPath.lastIndexOf('/'))}/reader.js`, {
  workerData: { port: port2, running },
  transferList: [port2],
  execArgv: [],
})
reader.unref()

let context: Context | undefined
port1.on('message', (json: string | null) => {
  if (json === null) exit(0)
  else if (context !== undefined) context.take(json)
  else begin(JSON.parse(json) as ContextRequest)
})

function begin(request: ContextRequest): void {
  const created = new Context(request, running)
  try {
    created.open()
  } catch (thrown) {
    refuse(thrown)
    return
  }
  context = created
  sendEnd(0)
}
