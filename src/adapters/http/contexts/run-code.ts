/** One piece of code in a context: its reply, or its events while it runs. */
import type { CodeContext, CodeResult, RunCodeOptions } from '../../../sandbox/contexts/context-types.ts'
import type { Exchange } from '../exchange.ts'
import type { OpenRun } from '../open-runs.ts'
import type { Api } from '../routes/routes.ts'
import { invalid } from '../routes/run-routes.ts'
import { sandboxOf } from '../routes/sandbox-routes.ts'

/** The name of the code's `input()` in `call` events; the answer is a string. */
const inputName = 'input()'
/** Refusals are faster than this; while the reply has not begun, they can still have their own status. */
const beginMs = 250

type RunCode = (code: string, options: RunCodeOptions) => Promise<CodeResult>

export async function runInContext(exchange: Exchange, api: Api, context: CodeContext): Promise<void> {
  await runCode(exchange, api, (code, options) => context.runCode(code, options))
}

export async function runInDefault(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  await runCode(exchange, api, (code, options) => sandbox.runCode(code, options))
}

async function runCode(exchange: Exchange, { quotas, runs }: Api, run: RunCode): Promise<void> {
  const { token, wantsEvents, parts, events } = exchange
  using turn = quotas.begin(token)
  void turn
  using open = runs.open(token, parts.id)
  const { code, signal, asks = false, context, ...rest } = await exchange.readJson()
  if (context !== undefined) throw invalid('context: it is part of the path')
  if (signal !== undefined && signal !== 'aborted') throw invalid('signal: must be "aborted", or left out')
  if (typeof asks !== 'boolean') throw invalid('asks: must be true or false')
  if (asks && !wantsEvents) throw invalid('asks: questions are events; ask for text/event-stream')
  const unwanted = Object.keys(rest).find((name) => name.startsWith('on'))
  if (unwanted !== undefined) throw invalid(`${unwanted.slice(0, 100)}: ask for text/event-stream instead`)
  const options: RunCodeOptions = {
    ...rest,
    signal: signal === 'aborted' ? AbortSignal.abort() : AbortSignal.any([exchange.signal, open.signal]),
  }
  if (!wantsEvents) {
    await exchange.reply(200, toDocument(await run(code as string, options)))
    return
  }
  const cancel = parts.clock.after(beginMs, () => void begin(exchange))
  try {
    const listening = {
      ...options,
      ...listenersOf(exchange),
      ...(asks && { onInput: asker(exchange, open) }),
    }
    const result = await run(code as string, listening)
    await begin(exchange)
    await events.sendLarge('result', toDocument(result))
    events.end()
  } finally {
    cancel()
  }
}

/** May be called more than once: only the first call begins the reply. */
async function begin({ events, parts: { id } }: Exchange): Promise<void> {
  if (!events.hasBegun) await events.send('started', { id })
}

/** A client that reads slowly delays the output, and so the code. */
function listenersOf(
  exchange: Exchange,
): Pick<RunCodeOptions, 'onStdout' | 'onStderr' | 'onLog' | 'onResult' | 'onClear'> {
  const { events } = exchange
  const passOn = async (name: string, data: object): Promise<void> => {
    await begin(exchange)
    await events.sendLarge(name, data)
  }
  return {
    onStdout: (text) => passOn('output', { stream: 'stdout', text }),
    onStderr: (text) => passOn('output', { stream: 'stderr', text }),
    onLog: (entry) => passOn('log', entry),
    onResult: (bundle, facts) => passOn('display', { bundle, ...facts }),
    onClear: (waits) => passOn('clear', { waits }),
  }
}

/** Asks the client that sent the code, which answers as it answers function calls. */
function asker(exchange: Exchange, open: OpenRun): (prompt: string) => Promise<string> {
  const { [inputName]: ask } = open.functions([inputName], async (call) => {
    await begin(exchange)
    await exchange.events.sendJson('call', call)
  })
  const signal = AbortSignal.any([exchange.signal, open.signal])
  return async (prompt) => {
    const answer = await ask?.call({ signal }, prompt)
    // Converting anything else to a string can take for ever, such as lists that contain a list many times.
    if (typeof answer !== 'string') throw new TypeError('The answer must be a string.')
    return answer
  }
}

function toDocument(result: CodeResult): object {
  const { context, isStateKept, note } = result
  return { ...result.toJSON(), context, isStateKept, ...(note !== undefined && { note }) }
}
