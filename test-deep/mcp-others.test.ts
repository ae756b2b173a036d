/**
 * The protocol's own programs against the packed `lazaret mcp`: the official conformance runner over HTTP, for both eras of
 * the specification, and the inspector's command line over both transports.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'

import { PackedProject } from '../test/support/sources/packed-project.ts'

const runner = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const inspector = '@modelcontextprotocol/inspector@0.15.0'
/** The revisions of the specification; the first one is the last of the legacy era. */
const revisions = ['2025-11-25', '2026-07-28']
/** The number of checks that pass today. Fewer means that some are no longer made. */
const passedMin = { '2025-11-25': 39, '2026-07-28': 99 } as const

/** Why a check does not apply to this server. Any other failure is a defect. */
const notApplicable: readonly { readonly failure: RegExp; readonly because: string }[] = [
  {
    failure: /Tool '?\w+'? not found|exposes no tool with|does not list the diagnostic tool/,
    because: 'it needs a tool that servers have for the sake of this suite',
  },
  {
    failure: /Method not found|-32601/,
    because: 'it is about resources, prompts, completion, logging or tasks, which this server does not offer',
  },
  {
    failure: /extensions MUST be advertised|no task was created|failing_job|routing-task fixture/,
    because: 'it is about tasks, an extension that this server does not offer',
  },
  {
    failure: /InputRequiredResult/,
    because: 'it is about tools that ask their caller back; these never do',
  },
]

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

const project = new PackedProject([runner, inspector])
const skip = project.saidByNpm === undefined && 'no registry can be reached'
let server: ChildProcess | undefined
let url = ''

before(async () => {
  if (skip !== false) return
  const configuration = join(project.folder, 'mcp.json')
  writeFileSync(configuration, '{"rate": false}', { mode: 0o600 })
  const [command, ...args] = project.words('lazaret', ['mcp', '--http', '0', '--config', configuration], {})
  server = spawn(command, args, { env: project.environment(), cwd: project.folder, stdio: 'pipe' })
  assert.ok(server.stderr)
  for await (const line of createInterface(server.stderr)) {
    url = /http:\/\/\S+\/mcp/.exec(line)?.[0] ?? ''
    if (url !== '') break
  }
})

after(async () => {
  if (server?.exitCode === null) {
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  }
  project[Symbol.dispose]()
})

for (const revision of revisions) {
  test(`every applicable requirement of the specification of ${revision} is met`, { skip }, () => {
    const folder = `results-${revision}`
    const words = ['server', '--url', url, '--requirements', revision, '-o', folder]
    useModule('@modelcontextprotocol/conformance', 'conformance', words)
    const checks = readChecks(join(project.folder, folder))
    const passed = checks.filter(({ status }) => status === 'SUCCESS')
    assert.ok(
      passed.length >= passedMin[revision as keyof typeof passedMin],
      `${passed.length} checks passed`,
    )
    const unexplained = checks.filter(
      ({ status, errorMessage = '' }) =>
        status === 'FAILURE' && !notApplicable.some(({ failure }) => failure.test(errorMessage)),
    )
    assert.deepEqual(unexplained, [])
  })
}

const execution = [
  ...['--method', 'tools/call', '--tool-name', 'execute_code'],
  ...['--tool-arg', 'language=python', '--tool-arg', 'code=6 * 7'],
]

for (const [transport, target] of [
  ['stdio', () => ['node', join(project.folder, 'node_modules/lazaret/dist/adapters/cli/main.js'), 'mcp']],
  ['HTTP', () => [url, '--transport', 'http']],
] as const) {
  test(`the inspector's command line lists and calls tools over ${transport}`, { skip }, () => {
    const inspect = (words: readonly string[]) => {
      const { stdout, stderr } = useModule('@modelcontextprotocol/inspector', 'mcp-inspector', [
        ...['--cli', ...target(), ...words],
      ])
      assert.match(stdout, /^\s*\{/, stderr)
      return JSON.parse(stdout)
    }
    const { tools } = inspect(['--method', 'tools/list'])
    assert.deepEqual(
      tools.map(({ name }: { name: string }) => name),
      ['execute_code', 'validate_code'],
    )
    const { structuredContent } = inspect(execution)
    assert.equal(structuredContent.value, 42)
  })
}

/** A command of a package, with the Node of these tests. */
function useModule(name: string, command: string, words: readonly string[]) {
  const folder = join(project.folder, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const path = join(folder, typeof bin === 'string' ? bin : bin[command])
  return spawnSync(process.execPath, [path, ...words], {
    cwd: project.folder,
    encoding: 'utf8',
    env: { ...project.environment(), PATH: `${project.environment()['PATH']}:/usr/bin:/bin` },
    timeout: 240_000,
  })
}

function readChecks(folder: string): Check[] {
  return readdirSync(folder).flatMap(
    (scenario) => JSON.parse(readFileSync(join(folder, scenario, 'checks.json'), 'utf8')) as Check[],
  )
}
