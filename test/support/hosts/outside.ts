/**
 * A program on the host without Lazaret, as an unprivileged user would start it: in its own folder, with the variables
 * that guests get. In a cell it should behave as it does there.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { Identity } from '../machine/find-python.ts'

export interface OutsideProgram {
  /** The absolute path of the interpreter. */
  readonly file: string
  /** Arguments before the program's own path. */
  readonly flags?: readonly string[]
  /** The name of the program's file. Some interpreters go by its extension. */
  readonly name: string
  readonly code: string
  readonly args?: readonly string[]
  /** The files in its current folder. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly stdin?: string
  /** Files to read from the program's folder afterwards. */
  readonly collect?: readonly string[]
  readonly wallMs: number
}

export interface OutsideEnd {
  readonly stdout: string
  readonly stderr: string
  /** Null if a signal ended it. */
  readonly exitCode: number | null
  readonly files: Readonly<Record<string, string>>
}

/** An id that no usual distribution assigns. */
const plainUserId = 65_533
/** Another user could not enter the tests' own TMPDIR. */
const everybodysFolder = '/tmp'
const outputBytesMax = 64 * 1024 * 1024

/** Another user if root started the tests, because root may do what no guest may. */
export const plainIdentity: Identity = process.getuid?.() === 0 ? { uid: plainUserId, gid: plainUserId } : {}

/** Whether the unprivileged user can start it, which is false below a folder that only root may enter. */
export function canStart(file: string): boolean {
  try {
    execFileSync(file, ['--version'], { cwd: '/', stdio: 'ignore', ...plainIdentity })
    return true
  } catch (error) {
    // Some interpreters reject the option, but then they have started.
    return typeof Reflect.get(Object(error), 'status') === 'number'
  }
}

export async function runOutside(program: OutsideProgram): Promise<OutsideEnd> {
  const folder = await mkdtemp(join(everybodysFolder, 'lazaret-outside-'))
  try {
    const workspace = join(folder, 'workspace')
    await mkdir(workspace)
    await writeFile(join(folder, program.name), program.code)
    await placeFiles(workspace, program.files ?? {})
    for (const path of [folder, workspace]) await chmod(path, 0o777)
    const end = await execute(program, { workspace, path: join(folder, program.name) })
    return { ...end, files: await readFiles(folder, program.collect ?? []) }
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
    // The program runs as another user and may change these files.
    for (let part = target; part !== workspace; part = dirname(part)) await chmod(part, 0o777)
  }
}

async function readFiles(folder: string, names: readonly string[]): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of names) {
    const path = join(folder, name)
    if (existsSync(path)) files[name] = await readFile(path, 'utf8')
  }
  return files
}

function execute(
  { file, flags = [], args = [], stdin = '', wallMs }: OutsideProgram,
  { workspace, path }: { readonly workspace: string; readonly path: string },
): Promise<Omit<OutsideEnd, 'files'>> {
  const PATH = [dirname(file), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
  const env = { PATH, HOME: workspace, USER: 'guest', LANG: 'C.UTF-8', TZ: 'UTC' }
  const options = { cwd: workspace, env, timeout: wallMs, maxBuffer: outputBytesMax, ...plainIdentity }
  return new Promise((resolve) => {
    const child = execFile(file, [...flags, path, ...args], options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      resolve({ stdout, stderr, exitCode })
    })
    // A program that does not read its stdin may have ended before stdin is closed.
    child.stdin?.on('error', () => undefined).end(stdin)
  })
}
