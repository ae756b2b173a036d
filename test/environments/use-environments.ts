/** A Lazaret with its own folder for environments, and packages to install. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import { LeakCheck } from '../support/machine/leaks.ts'
import { makeNpmTarball, makeWheel } from './archives.ts'
import { greeting, pricing } from './packages.ts'

/** Call once, at the top of a test file. */
export async function useEnvironments() {
  const leaks = new LeakCheck()
  const folder = mkdtempSync(join(tmpdir(), 'environments-'))
  chmodSync(folder, 0o755)
  await leaks.takeBaseline()
  const store = join(folder, 'store')
  const links = join(folder, 'wheels')
  makeWheel(links, pricing, {
    files: { 'pricing.py': 'def net(gross): return gross / 1.25\ndef main(): print("net", net(10))\n' },
    commands: { 'net-price': 'pricing:main' },
  })
  const tarball = await makeNpmTarball(join(folder, 'tarballs'), greeting, {
    files: {
      'index.js': 'module.exports = (name) => `Hello, ${name}`\n',
      'greet.js': '#!/usr/bin/env node\nconsole.log(require("./index.js")(process.argv[2]))\n',
    },
    manifest: { bin: { greet: 'greet.js' } },
  })
  const lazaret = createLazaret({ environments: { folder: store }, onEvent: () => undefined })
  after(async () => {
    await lazaret[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
    await leaks.checkDisposed()
  })
  const offline = { offline: true, findLinks: [links] } as const
  return { lazaret, folder, store, links, tarball, offline }
}
