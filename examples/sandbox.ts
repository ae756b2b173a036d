/**
 * A session like an agent's: it tests and fixes a project, serves it, and releases it with a token that nothing
 * else in the sandbox can find. `node examples/sandbox.ts` prints how each step went; the exit code is 0 if all went well.
 */
import { readdir, readFile } from 'node:fs/promises'
import { createLazaret, type ExecResult, type Sandbox } from '../src/index.ts'

const mended = `
def total(basket, discount=0):
    return sum(price * count for price, count in basket) * (1 - discount)
`
const surprises: string[] = []

await using lazaret = createLazaret()
await using shop = await lazaret.sandbox({ files: await readProject() })

await testAndMend(shop)
await serve(shop)
await release(shop, `release-${crypto.randomUUID()}`)

console.log(surprises.length === 0 ? 'Every step went as it should.' : `Surprises: ${surprises.join(', ')}`)
process.exitCode = surprises.length === 0 ? 0 : 1

async function testAndMend(within: Sandbox): Promise<void> {
  const before = await within.exec('python3 -m unittest')
  tell('tests fail', before, before.exitCode === 1, lineOf(before.stderr, 'AssertionError'))

  await within.writeFile('prices.py', mended)
  const after = await within.exec('python3 -m unittest')
  tell('tests pass', after, after.success, lineOf(after.stderr, 'OK'))
}

async function serve(within: Sandbox): Promise<void> {
  const server = await within.startProcess('python3 server.py')
  await server.waitForPort(8080)
  const fetch = `from urllib.request import urlopen; print(urlopen('http://127.0.0.1:8080').read().decode())`
  const answer = await within.exec(`python3 -c "${fetch}"`)
  tell('server answers', answer, answer.stdout.startsWith('total: 75'), answer.stdout)
}

/** Another command searches for the token while the release has it, and again afterwards. */
async function release(within: Sandbox, token: string): Promise<void> {
  const search = { stdin: `${token.slice(0, 20)}\n${token.slice(20)}` }
  const [released, during] = await Promise.all([
    within.exec('python3 release.py', { env: { RELEASE_TOKEN: token }, timeout: 60_000 }),
    within.exec('until [ -e releasing ]; do sleep 0.02; done; python3 find_token.py; touch searched', search),
  ])
  const receipt = await within.exec('cat release.json')
  tell('release is accepted', released, released.success, receipt.stdout)
  tell('token, meanwhile', during, during.stdout.startsWith('found in 0 of'), during.stdout)

  const after = await within.exec('python3 find_token.py', search)
  tell('token, afterwards', after, after.stdout.startsWith('found in 0 of'), after.stdout)
  const variable = await within.exec('echo "[$RELEASE_TOKEN]"')
  tell('its variable', variable, variable.stdout === '[]\n', variable.stdout)
}

function tell(step: string, { isolation, exitCode }: ExecResult, isExpected: boolean, said: string): void {
  console.log(`${step.padEnd(20)} ${isolation.space.padEnd(7)} exit ${exitCode}  ${said.trim()}`.trimEnd())
  if (!isExpected) surprises.push(step)
}

function lineOf(text: string, start: string): string {
  return text.split('\n').find((line) => line.startsWith(start)) ?? text
}

async function readProject(): Promise<Record<string, Buffer>> {
  const folder = new URL('sandbox/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py'))
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, folder))])),
  )
}
