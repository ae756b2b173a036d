/**
 * A copy of this checkout that an older Node can run. The files keep their names, but those of TypeScript contain
 * JavaScript, without types and without syntax newer than tsconfig's target. Imports name a second copy that ends in
 * `.js`: the older Node looks for types in each `.ts` file in every process, and keeps compiled code of `.js` files alone.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** Files that are linked, large, or irrelevant. */
const leftOut = ['node_modules', '.git', '.ci']

export class LoweredCopy implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'lazaret-lowered-'))

  constructor() {
    const { folder } = this
    // For tests that run as another user.
    chmodSync(folder, 0o755)
    cpSync(root, folder, { recursive: true, filter: (path) => !leftOut.includes(relative(root, path)) })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    lower(folder)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function lower(folder: string): void {
  const emitted = join(folder, 'lowered')
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const words = ['--noEmit', 'false', '--noCheck', '--rootDir', folder, '--outDir', emitted]
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, ...words], {
    encoding: 'utf8',
    cwd: folder,
  })
  const files = globSync('**/*.js', { cwd: emitted })
  if (files.length === 0) throw new Error(`Nothing was compiled:\n${stdout}`)
  for (const file of files) {
    const text = readFileSync(join(emitted, file), 'utf8')
    writeFileSync(join(folder, file), text)
    // Files that are started, or imported by a path, keep their `.ts` names. Threads do not inherit the process's
    // options, so a thread that such a file starts gets the option that its first file needs.
    const started = text.replace(
      'execArgv: []',
      "execArgv: ['--experimental-strip-types', '--disable-warning=ExperimentalWarning']",
    )
    writeFileSync(join(folder, file.replace(/js$/, 'ts')), started)
  }
  rmSync(emitted, { recursive: true })
}
