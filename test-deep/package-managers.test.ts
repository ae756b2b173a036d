/**
 * The tarball with each package manager, in empty projects, on the oldest supported Node and on this one: exit code 0, no
 * warning, and programs run. And the setups of the pages, as written: isolated-vm, MCP clients, the Dockerfile.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { Client as Client2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioClientTransport2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioClientTransport1 } from '@modelcontextprotocol/sdk/client/stdio.js'

import { oldestNode } from '../scripts/testing/oldest-node.ts'
import { checkoutRoot, readText } from '../test/support/sources/checkout.ts'

/** Their versions of November 2026. */
const tools = [
  ...['npm11@npm:npm@11.21.2', 'npm12@npm:npm@12.2.2', 'pnpm@12.21.0'],
  ...['yarn@1.22.22', '@yarnpkg/cli-dist@4.18.1'],
]
/** Far more than any installation needs on an idle machine. */
const installMs = 600_000
const expected = { status: 0, warnings: [] }

const root = mkdtempSync(join(tmpdir(), 'lazaret-managers-'))
const toolsFolder = makeFolder('tools')
const home = makeFolder('home')
const skip = !prepare() && 'no registry can be reached'
after(() => rmSync(root, { recursive: true, force: true }))

interface Manager {
  readonly program: string
  readonly add: string
  /** What the project has before: files by name. `package.json` is merged. */
  readonly files?: Readonly<Record<string, string>>
  readonly manifest?: object
  /** How docs/guide/isolates.md declines the install script. */
  readonly declining?: { readonly files?: Readonly<Record<string, string>>; readonly manifest?: object }
}

/**
 * Yarn asks the registry about the builds for other processors and systems too, which it then leaves out. Not every registry
 * has all of them.
 */
const noOtherBuilds = () => {
  const { optionalDependencies } = JSON.parse(readText('node_modules/oxc-transform/package.json')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>
  }
  const others = Object.keys(optionalDependencies).filter(
    (name) => !name.endsWith(`-linux-${process.arch}-gnu`),
  )
  return Object.fromEntries(others.map((name) => [name, 'file:./none']))
}
const yarn = {
  files: { 'none/package.json': '{"name":"none","version":"0.158.0"}' },
  manifest: { resolutions: noOtherBuilds() },
}

const declinedByNpm = { manifest: { allowScripts: { 'isolated-vm': false } } }
const managers: Readonly<Record<string, Manager>> = {
  'npm 11': { program: 'npm11/bin/npm-cli.js', add: 'install', declining: declinedByNpm },
  'npm 12': { program: 'npm12/bin/npm-cli.js', add: 'install', declining: declinedByNpm },
  pnpm: {
    program: 'pnpm/bin/pnpm.mjs',
    add: 'add',
    declining: { files: { 'pnpm-workspace.yaml': 'allowBuilds: { isolated-vm: false }\n' } },
  },
  'Yarn 1': { program: 'yarn/bin/yarn.js', add: 'add', ...yarn },
  'Yarn 4': {
    program: '@yarnpkg/cli-dist/bin/yarn.js',
    add: 'add',
    files: { ...yarn.files, 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\n' },
    manifest: yarn.manifest,
    declining: { manifest: { dependenciesMeta: { 'isolated-vm': { built: false } } } },
  },
}

const hosts = [
  { name: 'the oldest Node', node: skip === false ? oldestNode() : '' },
  { name: 'this Node', node: process.execPath },
]

for (const { name: host, node } of hosts)
  describe(`on ${host}`, { skip }, () => {
    for (const [name, manager] of Object.entries(managers)) {
      // npm 12 itself warns that it wants a newer Node than the first long-term release of Node 24.
      if (name === 'npm 12' && node !== process.execPath) continue
      test(`${name} installs the tarball without a warning, and every later installation succeeds`, () => {
        const folder = makeProject(manager)
        const install = (words: readonly string[]) => {
          const { status, stdout, stderr } = run(
            node,
            [join(toolsFolder, 'node_modules', manager.program), ...words],
            folder,
          )
          const lines = (stdout + stderr)
            .split('\n')
            .filter((line) => /warn|deprecat|error|ignored/i.test(line))
          return { status, warnings: lines }
        }
        assert.deepEqual(install([manager.add, spec(name)]), expected)
        assert.deepEqual(install([manager.add, 'picomatch@4']), expected)
        assert.deepEqual(install(['install']), expected)
        assert.deepEqual(runProgram(node, folder), [2, 2, 'RUNTIME_UNAVAILABLE'])

        // The pages' way to isolates.
        writeProject(folder, manager.declining ?? {})
        assert.deepEqual(install([manager.add, 'isolated-vm@7']), expected)
        assert.deepEqual(install(['install']), expected)
        assert.deepEqual(runProgram(node, folder), [2, 2, 2])
      })
    }
  })

/** A handshake and tools/list by the common clients, from a folder that is nobody's project. */
test(
  'every MCP snippet of the page and of the help works from the tarball that is installed globally',
  { skip },
  async () => {
    const prefix = makeFolder('global')
    const npm = join(toolsFolder, 'node_modules/npm11/bin/npm-cli.js')
    const installed = run(process.execPath, [npm, 'install', '-g', '--prefix', prefix, tarball()], root)
    assert.equal(installed.status, 0, installed.stderr)
    const plain = environment(process.execPath)
    const env = { ...plain, PATH: `${join(prefix, 'bin')}:${plain['PATH']}` }
    const help = spawnSync('lazaret', ['mcp', '--help'], { encoding: 'utf8', env })
    const page = readText('docs/operate/mcp.md')
    const servers = [...serversIn(page), ...serversIn(help.stdout)]
    assert.deepEqual([serversIn(page).length, serversIn(help.stdout).length], [5, 4])
    for (const { command, args } of servers) {
      const server = { command, args: [...args], env, cwd: '/', stderr: 'inherit' as const }
      const modern = new Client2({ name: 'test', version: '1' })
      await modern.connect(new StdioClientTransport2(server))
      const v1 = new Client1({ name: 'test', version: '1' })
      await v1.connect(new StdioClientTransport1(server))
      for (const client of [modern, v1]) {
        const { tools: offered } = await client.listTools()
        assert.deepEqual(
          offered.map(({ name }) => name),
          ['execute_code', 'validate_code'],
        )
        await client.close()
      }
    }
  },
)

test(
  'the steps of the Dockerfile build a server from the tarball, and its command serves',
  { skip },
  async () => {
    const folder = makeFolder('image')
    const [, dockerfile = ''] =
      /^```dockerfile\n([\s\S]*?)^```/m.exec(readText('docs/operate/deployment.md')) ?? []
    const steps = dockerfile.replaceAll('\\\n', '').split('\n')
    const [copy = '', install = ''] = ['COPY ', 'RUN npm '].map((start) =>
      steps.find((step) => step.startsWith(start)),
    )
    // In a folder of the test instead of the image's /tmp.
    const temporary = `${makeFolder('image-tmp')}/`
    const [, from = '', to = ''] = copy.split(' ')
    assert.equal(to, '/tmp/')
    const npm = `node ${join(toolsFolder, 'node_modules/npm11/bin/npm-cli.js')}`
    const script = `cp ${join(root, from)} ${temporary} && ${install.slice(4).replaceAll(to, temporary).replace('npm', npm)}`
    const built = spawnSync('sh', ['-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: environment(process.execPath),
    })
    assert.equal(built.status, 0, built.stderr)
    assert.deepEqual(readdirSync(temporary), [])

    const tokens = join(folder, 'tokens.json')
    const [, ...words] = JSON.parse(
      steps.find((step) => step.startsWith('CMD '))?.slice(4) ?? '[]',
    ) as string[]
    const [main = ''] = words
    const issued = run(
      process.execPath,
      [main, 'token', 'create', '--name', 'ci', '--tokens', tokens],
      folder,
    )
    assert.equal(issued.status, 0, issued.stderr)
    const args = words.map(
      (word) => ({ '0.0.0.0': '127.0.0.1', '/run/secrets/tokens.json': tokens })[word] ?? word,
    )
    const server = spawn(process.execPath, [...args, '--port', '0', '--json'], {
      cwd: folder,
      env: environment(process.execPath),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
      const { url } = JSON.parse(line) as { url: string }
      assert.equal((await fetch(new URL('/healthz', url))).status, 200)
    } finally {
      server.kill('SIGTERM')
      await once(server, 'exit')
    }
  },
)

interface Server {
  readonly command: string
  readonly args: readonly string[]
}

/** Commands that add a server, and the entries of configuration files. */
function serversIn(text: string): Server[] {
  const added = [...text.matchAll(/\b(?:claude|codex|gemini) mcp add lazaret (?:-- )?([^-`\n][^`\n]*)/g)].map(
    ([, words = '']) => {
      const [command = '', ...args] = words.trim().split(' ')
      return { command, args }
    },
  )
  const entries = [...text.matchAll(/"lazaret": (\{.*\})$/gm)].map(
    ([, entry = '']) => JSON.parse(entry) as Server,
  )
  return [...added, ...entries]
}

/** The value of a Python and a TypeScript program, and that of an isolate or the code of the refusal. */
function runProgram(node: string, folder: string): unknown {
  writeFileSync(
    join(folder, 'program.mjs'),
    `import { createLazaret } from 'lazaret'
await using lazaret = createLazaret()
const run = (language, runtime) => lazaret.run({ language, runtime, code: '1 + 1' })
const values = [run('python'), run('typescript'), run('javascript', 'isolate')].map((one) =>
  one.then(({ value }) => value, ({ code }) => code))
console.log(JSON.stringify(await Promise.all(values)))`,
  )
  const { status, stdout, stderr } = run(node, ['program.mjs'], folder)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
  const command = run(node, [join(folder, 'node_modules/.bin/lazaret'), '--version'], folder)
  // pnpm's link is a shell script.
  if (!command.stderr.includes('SyntaxError')) assert.equal(command.status, 0, command.stderr)
  return JSON.parse(stdout)
}

/** Whether the tools are installed, and the checkout is packed. */
function prepare(): boolean {
  const npm = spawnSync(
    'npm',
    ['install', '--prefix', toolsFolder, '--ignore-scripts', '--no-audit', ...tools],
    {
      encoding: 'utf8',
      cwd: toolsFolder,
    },
  )
  const packing = ['pack', '--ignore-scripts', '--pack-destination', root, checkoutRoot]
  const packed = spawnSync('npm', packing, { encoding: 'utf8', cwd: toolsFolder })
  assert.equal(packed.status, 0, packed.stderr)
  return npm.status === 0
}

const tarball = () => join(root, readdirSync(root).find((name) => name.endsWith('.tgz')) ?? '')
const spec = (name: string) => (name === 'Yarn 4' ? `lazaret@file:${tarball()}` : tarball())

function makeProject(manager: Manager): string {
  const folder = mkdtempSync(join(root, 'project-'))
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  writeProject(folder, manager)
  return folder
}

function writeProject(
  folder: string,
  { files = {}, manifest = {} }: Pick<Manager, 'files' | 'manifest'>,
): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const file = join(folder, 'package.json')
  const present = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...present, ...manifest }))
}

function makeFolder(name: string): string {
  const folder = join(root, name)
  mkdirSync(folder)
  return folder
}

function run(node: string, words: readonly string[], cwd: string) {
  return spawnSync(node, words, { cwd, encoding: 'utf8', env: environment(node), timeout: installMs })
}

/** Only the registry and the certificates of this machine, and no configuration of its user. */
function environment(node: string): Record<string, string> {
  const kept = ['NODE_EXTRA_CA_CERTS', 'npm_config_registry'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    PATH: `${dirname(node)}:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
  }
}
