/** Runs the commands and programs of docs/operate/http.md against a real server, in each of its languages. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { checkoutRoot, readText } from './support/sources/checkout.ts'
import { agrees, annotate, findBlocks, readShown, showModule } from './support/pages/page-programs.ts'
import { whyNoSandboxes } from './support/sandboxes-here.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-http-page-'))
const main = join(checkoutRoot, 'dist/adapters/cli/main.js')
const server = spawn(process.execPath, [main, 'serve', '--port', '0', '--json', '--minimum', 'restricted'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string }
after(async () => {
  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'close'), [0, null])
  rmSync(folder, { recursive: true })
})

mkdirSync(join(folder, 'node_modules'))
symlinkSync(checkoutRoot, join(folder, 'node_modules/lazaret'))
writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
writeFileSync(join(folder, 'show.mjs'), showModule)
writeFileSync(join(folder, 'lazaret'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
  mode: 0o755,
})

const environment = {
  ...process.env,
  PATH: `${folder}:${process.env['PATH']}`,
  LAZARET_URL: url,
  LAZARET_TOKEN: token,
  SHOWN_FILE: join(folder, 'shown.jsonl'),
}
const noSandboxes = await whyNoSandboxes()
const blocks = findBlocks('docs/operate/http.md', readText('docs/operate/http.md')).filter(
  ({ reasonNotToRun }) => reasonNotToRun === undefined,
)

test('the page has examples in each of its languages', () => {
  assert.deepEqual(new Set(blocks.map(({ language }) => language)), new Set(['sh', 'python', 'ts']))
})

/** Why a block cannot run on this machine. */
function whyNot(language: string, code: string): string | false {
  if (/\.sandbox\(|\/v1\/sandboxes/.test(code) && noSandboxes !== false) return noSandboxes
  const needed = language === 'python' ? 'python3' : code.includes('curl') ? 'curl' : 'true'
  return spawnSync('sh', ['-c', `command -v ${needed}`]).status === 0 ? false : `${needed} is not installed`
}

for (const { place, language, code } of blocks)
  test(
    `the example at ${place} runs and prints the documented output`,
    { skip: whyNot(language, code) },
    () => {
      const options = { cwd: folder, encoding: 'utf8', env: environment } as const
      if (language === 'ts') {
        const { source, expected } = annotate(code)
        writeFileSync(join(folder, 'program.ts'), source)
        writeFileSync(environment.SHOWN_FILE, '')
        const args = ['--import', join(folder, 'show.mjs'), join(folder, 'program.ts')]
        const ran = spawnSync(process.execPath, args, options)
        assert.deepEqual([ran.status, ran.stderr], [0, ''])
        const shown = readShown(readFileSync(environment.SHOWN_FILE, 'utf8'))
        for (const [at, text] of expected)
          assert.ok(agrees(shown.get(at)?.replaceAll('\\n', ''), text), `${shown.get(at)} and ${text}`)
        return
      }
      const [program, args] = language === 'python' ? ['python3', ['-c', code]] : ['sh', ['-c', code]]
      const ran = spawnSync(program, args, options)
      const expected = [...code.matchAll(/^# → (.*)$/gm)].map(([, text = '']) => `${text}\n`).join('')
      assert.deepEqual([ran.status, ran.stdout], [0, expected], ran.stderr)
    },
  )
