/**
 * A copy of the checkout in which one file at a time is changed. It has the packages of the checkout as hard links, and what
 * was built there.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { checkoutRoot, listFiles } from '../../test/support/sources/checkout.ts'
import type { PassResults } from '../testing/results.ts'
import { mutate } from './mutation.ts'
import type { Mutation } from './mutation.ts'

/** What a build writes, from which it is rebuilt, and how. */
const built = [
  { folder: 'native/bin', from: /^native\//, script: 'scripts/build-native.ts' },
  // Cells show guests these files as they are in dist/. Everything else that a test runs is loaded from src/.
  {
    folder: 'dist',
    from: /^src\/(core\/values|runtimes\/(isolate|javascript|python)|policy\/validation\/.*\.py)/,
    script: 'scripts/build.ts',
  },
] as const

/** A test that hangs ends after two minutes, and a process that does not end after it some minutes later. */
const runMsMax = 15 * 60_000

export class WorkingCopy implements Disposable {
  readonly #folder: string
  /** What was built from the unchanged sources. */
  readonly #kept: string

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'lazaret-mutations-'))
    // Guests have other ids.
    chmodSync(folder, 0o755)
    this.#folder = join(folder, 'checkout')
    this.#kept = join(folder, 'built')
    try {
      this.#fill()
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  #fill(): void {
    for (const file of listFiles()) {
      const copy = join(this.#folder, file)
      mkdirSync(dirname(copy), { recursive: true })
      copyFileSync(join(checkoutRoot, file), copy)
    }
    // cp(1), because Node's own cannot make links. Across file systems there are none: then they are copied.
    const packages = [join(checkoutRoot, 'node_modules'), join(this.#folder, 'node_modules')]
    if (spawnSync('cp', ['-al', ...packages], { stdio: 'ignore' }).status !== 0) {
      rmSync(join(this.#folder, 'node_modules'), { recursive: true, force: true })
      perform('cp', ['-a', ...packages], checkoutRoot)
    }
    // A build replaces its stamp.
    rmSync(join(this.#folder, 'node_modules/.cache'), { recursive: true, force: true })
    for (const { folder } of built)
      for (const target of [this.#folder, this.#kept])
        cpSync(join(checkoutRoot, folder), join(target, folder), {
          recursive: true,
          preserveTimestamps: true,
        })
  }

  /** Until the returned object is disposed. Throws if a build fails. */
  apply(mutations: readonly Mutation[], { builds = true } = {}): Disposable {
    const files = new Map<string, string>()
    for (const mutation of mutations) {
      const { file } = mutation
      files.set(file, mutate(mutation, files.get(file) ?? readFileSync(join(this.#folder, file), 'utf8')))
    }
    const stale = built.filter(({ from }) => builds && [...files.keys()].some((file) => from.test(file)))
    const undo = () => {
      for (const file of files.keys()) copyFileSync(join(checkoutRoot, file), join(this.#folder, file))
      for (const { folder } of stale) {
        rmSync(join(this.#folder, folder), { recursive: true })
        cpSync(join(this.#kept, folder), join(this.#folder, folder), {
          recursive: true,
          preserveTimestamps: true,
        })
      }
    }
    try {
      for (const [file, text] of files) writeFileSync(join(this.#folder, file), text)
      for (const { script } of stale) perform(process.execPath, [script], this.#folder)
    } catch (error) {
      undo()
      throw error
    }
    return { [Symbol.dispose]: undo }
  }

  /** Throws if the sources do not compile. Names that nothing uses any more are not counted. */
  compile(): void {
    const compiler = join('node_modules/typescript/bin/tsc')
    perform(
      process.execPath,
      [compiler, '-p', 'tsconfig.build.json', '--noEmit', '--outDir', 'none'],
      this.#folder,
    )
  }

  /** Throws if the package cannot be loaded, as after a mistake in a defect. */
  load(): void {
    perform(process.execPath, ['--input-type=module', '-e', "await import('./src/index.ts')"], this.#folder)
  }

  /** The results of each pass, and everything that the runner printed. */
  async run(
    files: readonly string[],
    signal: AbortSignal,
  ): Promise<{ passes: PassResults[]; output: string }> {
    const results = join(this.#kept, 'results.json')
    rmSync(results, { force: true })
    const deadline = AbortSignal.timeout(runMsMax)
    const runner = spawn(process.execPath, ['scripts/mutating/run-files.ts', results, ...files], {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: AbortSignal.any([signal, deadline]),
    })
    let output = ''
    for (const stream of [runner.stdout, runner.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    await once(runner, 'close').catch((error: unknown) => {
      if (!deadline.aborted) throw error
      throw new Error(`the runner did not end within ${runMsMax / 60_000} minutes:\n${output}`, {
        cause: error,
      })
    })
    if (!existsSync(results)) throw new Error(`the runner ended without results:\n${output}`)
    return { passes: JSON.parse(readFileSync(results, 'utf8')) as PassResults[], output }
  }

  [Symbol.dispose](): void {
    rmSync(dirname(this.#folder), { recursive: true, force: true })
  }
}

function perform(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}${error?.message ?? ''}`)
  return stdout
}
