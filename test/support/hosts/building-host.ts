/**
 * A host process for tests that kill it: it builds, replaces and removes environments until SIGTERM. It prints `ready`
 * when it begins, and then a line of JSON for each step.
 *
 * Usage: building-host.ts <folder of environments> <folder of wheels>
 */
import { createLazaret } from '../create-lazaret.ts'

const [folder = '', links = ''] = process.argv.slice(2)
const offline = { offline: true, findLinks: [links] }
const over = new AbortController()
process.once('SIGTERM', () => over.abort())

await using lazaret = createLazaret({ environments: { folder }, onEvent: () => undefined })
const { environments } = lazaret
const say = (name: string, end: string) => console.log(JSON.stringify({ token: '', name, end }))

async function create(name: string, requirement: string): Promise<void> {
  const onProgress = ({ step, line }: { step: string; line?: string | undefined }) => {
    if (line === undefined) say(name, step)
  }
  await environments.create(name, { ...offline, python: [requirement] }, { replace: true, onProgress })
  say(name, 'created')
}

console.log('ready')
for (let turn = process.pid; !over.signal.aborted; turn++) {
  await create('replaced', `pricing==${1 + (turn % 2)}.0`)
  await create('removed', 'tariff')
  say('removed', 'removing')
  await environments.remove('removed')
  say('replaced', 'pruning')
  await environments.prune()
}
