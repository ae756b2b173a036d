/**
 * docs/guide/agents.md and docs/operate/servers.md as a reader uses them: the programs of the packed pages, in an empty
 * project with the published SDKs, as root and as an unprivileged user. Models follow a script (scripted-models.ts).
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { checkoutRoot } from '../support/sources/checkout.ts'
import { PackedProject, plainUserId } from '../support/sources/packed-project.ts'
import { agrees, annotate, findBlocks, readShown, showModule } from '../support/pages/page-programs.ts'
import type { Block } from '../support/pages/page-programs.ts'
import { scriptedModels } from './scripted-models.ts'

/** The versions that the page was written for. */
const sdks = [
  'ai@7.0.173',
  'langchain@1.5.14',
  '@langchain/core@1.4.0',
  '@openai/agents@0.20.0',
  '@modelcontextprotocol/server@2.4.0',
  'zod@4.6.7',
  '@types/node@24',
]

const project = new PackedProject(sdks)
after(() => project[Symbol.dispose]())
const skip = project.saidByNpm === undefined && 'no registry can be reached'
const programs = ['docs/guide/agents.md', 'docs/operate/servers.md'].flatMap((page) =>
  findBlocks(page, readFileSync(join(project.folder, 'node_modules/lazaret', page), 'utf8')).filter(
    ({ language }) => language === 'ts',
  ),
)
const isServer = ({ code }: Block) => code.includes('McpServer')
writeFileSync(join(project.folder, 'show.mjs'), showModule)

const users = process.getuid?.() === 0 ? [undefined, plainUserId] : [undefined]
for (const userId of users) {
  const who = userId === undefined ? 'who started the tests' : `uid ${userId}`

  for (const block of programs.filter((one) => !isServer(one))) {
    test(`the program at ${block.place} prints what its comments say, for ${who}`, { skip }, () => {
      const { source, expected } = annotate(block.code)
      writeFileSync(join(project.folder, 'model.ts'), scriptedModels[sdkOf(block.code)] ?? '')
      writeFileSync(join(project.folder, 'program.ts'), source)
      const shownFile = join(project.home(userId), 'shown.jsonl')
      rmSync(shownFile, { force: true })
      const ran = project.use('node', ['--import', './show.mjs', 'program.ts'], {
        userId,
        env: { SHOWN_FILE: shownFile },
      })
      assert.equal(ran.status, 0, ran.stderr)
      const actual = readShown(readFileSync(shownFile, 'utf8'))
      assert.ok(expected.size > 0)
      for (const [line, text] of expected)
        assert.ok(agrees(actual.get(line), text), `${actual.get(line)}, but the page says ${text}`)
    })
  }

  for (const { place, code } of programs.filter(isServer)) {
    test(`the server at ${place} runs programs for ${who}, and reports failures`, { skip }, async () => {
      writeFileSync(join(project.folder, 'server.ts'), code)
      const [command, ...args] = project.words('node', ['server.ts'], { userId })
      const client = new Client({ name: 'test', version: '1.0.0' })
      const env = project.environment(userId)
      await client.connect(
        new StdioClientTransport({ command, args, env, cwd: project.folder, stderr: 'inherit' }),
      )
      const run = (source: string) => client.callTool({ name: 'run_python', arguments: { code: source } })
      assert.deepEqual(await run('6 * 7'), {
        ...(await run('6 * 7')),
        isError: false,
        content: [{ type: 'text', text: 'value: 42' }],
      })
      assert.equal((await run('1 / 0')).isError, true)
      await client.close()
    })
  }
}

test('the programs of the pages compile in strict mode', { skip }, () => {
  for (const [index, { code }] of programs.entries()) {
    const folder = join(project.folder, `typed-${index}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'program.ts'), code)
    writeFileSync(join(folder, 'model.d.ts'), typesOfModels[sdkOf(code)] ?? '')
  }
  const compilerOptions = {
    ...{ target: 'es2023', lib: ['es2023', 'dom', 'esnext.disposable'], module: 'nodenext', types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, allowImportingTsExtensions: true },
    // The SDKs' declarations are not checked here; test/package.test.ts checks Lazaret's.
    skipLibCheck: true,
  }
  const config = { compilerOptions, include: ['typed-*/*.ts'] }
  writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(checkoutRoot, 'node_modules/typescript/bin/tsc')
  const checked = spawnSync(process.execPath, [tsc, '-p', project.folder], { encoding: 'utf8' })
  assert.equal(checked.stdout, '')
})

const typesOfModels: Readonly<Record<string, string>> = {
  ai: `export declare const model: import('ai').LanguageModel`,
  langchain: `export declare const model: import('@langchain/core/language_models/chat_models').BaseChatModel`,
  '@openai/agents': `export declare const model: import('@openai/agents').Model`,
}

function sdkOf(code: string): string {
  const [, sdk = ''] = / from '(ai|langchain|@openai\/agents)'/.exec(code) ?? []
  return sdk
}
