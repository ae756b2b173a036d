/** Packages that zygotes load: they leave the heap in different states, or have started threads. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const heap = (objects: number): string => `
const kept = []
for (let index = 0; index < ${objects}; index++) kept.push({ index, text: 'x' + index })
module.exports = kept.filter((_, index) => index % 3 === 0)`

const sources: Readonly<Record<string, string>> = {
  'heap-1/index.js': heap(5000),
  'heap-2/index.js': heap(40_000),
  'heap-3/index.js': heap(150_000),
  'started-threads/index.js': `
require('node:fs').stat('/', () => {})
require('node:zlib').gzip('x'.repeat(1000), () => {})`,
  'ended_threads/__init__.py': `
import threading
threads = [threading.Thread(target=sum, args=(range(1000),)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()`,
}

export class ForkPackages implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'lazaret-fork-packages-'))

  constructor() {
    chmodSync(this.folder, 0o755)
    for (const [path, source] of Object.entries(sources)) {
      mkdirSync(join(this.folder, path, '..'))
      writeFileSync(join(this.folder, path), source)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
