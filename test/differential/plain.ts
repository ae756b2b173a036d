/**
 * The plain engine: the program's file is given to the interpreter on the host, in a folder of its own and as an
 * unprivileged user, with the variables of guests. Only for programs that are known to be harmless.
 */
import { spawn } from 'node:child_process'
import {
  chmod,
  chown,
  glob,
  mkdir,
  mkdtemp,
  open,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

import { canStart, plainIdentity } from '../support/hosts/outside.ts'
import type { Engine, Program } from './program.ts'
import type { Seen } from './seen.ts'

/** Far more than any of them needs. */
const wallMs = 60_000

/** JavaScript runs as a module that has `require`, too. */
const requireForModules =
  "import { createRequire } from 'node:module'\nglobalThis.require = createRequire(process.argv[1])\n"

export type Interpreters = Readonly<Partial<Record<Engine, string>>>

export function canRunPlainly({ engine, isPlain }: Program, interpreters: Interpreters): boolean {
  const file = interpreters[engine]
  return isPlain && file !== undefined && canStart(file)
}

export async function runPlainly({ engine, request }: Program, interpreters: Interpreters): Promise<Seen> {
  const folder = await realpath(await mkdtemp('/tmp/lazaret-plain-'))
  try {
    const workspace = join(folder, 'workspace')
    const prelude = join(folder, 'prelude.mjs')
    const { code, language, files = {}, args = [], env = {}, stdin = '', collect = [] } = request
    const ending = { python: 'py', shell: 'sh', javascript: 'mjs', typescript: 'mts' }[language]
    const path = join(workspace, `.program.${ending}`)
    await mkdir(workspace)
    await writeFile(prelude, requireForModules)
    await writeFile(path, code)
    await placeFiles(workspace, files)
    await chmod(folder, 0o755)
    await giveAway(workspace)
    const flags =
      engine === 'node'
        ? ['--import', prelude, '--experimental-transform-types', '--disable-warning=ExperimentalWarning']
        : []
    const file = interpreters[engine] ?? ''
    const PATH = [...(engine === 'shell' ? [] : [dirname(file)]), '/usr/local/bin:/usr/bin:/bin'].join(':')
    // A file, because a socket cannot be opened as /dev/stdin.
    await writeFile(join(folder, 'stdin'), stdin)
    await using input = await open(join(folder, 'stdin'))
    const child = spawn(file, [...flags, path, ...args], {
      cwd: workspace,
      env: { PATH, HOME: workspace, USER: 'guest', LANG: 'C.UTF-8', TZ: 'UTC', ...env },
      timeout: wallMs,
      stdio: [input.fd, 'pipe', 'pipe'],
      ...plainIdentity,
    })
    const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (exitCode, signal) => resolve([exitCode, signal]))
    })
    const [stdout, stderr, [exitCode, signal]] = await Promise.all([
      text(child.stdout as Readable),
      text(child.stderr as Readable),
      ended,
    ])
    const told = (output: string): string =>
      output
        .replaceAll(`file://${path}`, '<code>')
        .replaceAll(path, '<code>')
        .replaceAll(workspace, '/workspace')
    return {
      exitCode,
      ...(signal !== null && { outcome: `killed by ${signal}` }),
      stdout: told(stdout),
      stderr: told(stderr),
      files: await readFiles(workspace, collect),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function placeFiles(
  workspace: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const target = join(workspace, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, content)
    for (let part = target; part !== workspace; part = dirname(part)) await giveAway(part)
  }
}

/** The program runs as another user if root runs the tests. */
async function giveAway(path: string): Promise<void> {
  const { uid, gid } = plainIdentity
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}

async function readFiles(workspace: string, patterns: readonly string[]): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for await (const path of glob([...patterns], { cwd: workspace })) {
    const full = join(workspace, path)
    if ((await stat(full)).isFile()) files[path] = await readFile(full, 'latin1')
  }
  return files
}
