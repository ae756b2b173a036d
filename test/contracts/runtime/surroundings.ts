/** The surroundings of a program: environment, folders, files. */
import assert from 'node:assert/strict'
import { it } from 'node:test'

import type { RunResult } from '../../../src/core/result.ts'
import type { ContractParts } from '../runtime.contract.ts'

/** Without a mount namespace, a run has a folder on the host's disk. */
const ownWorkspace = /^\/.*\/lazaret-[\d-]+\/run-\d+\/workspace$/

export function contractOfSurroundings({ programs, run }: ContractParts): void {
  it('finds the documented variables, those of the request, and nothing else', async () => {
    process.env['LAZARET_TEST_SECRET'] = 'of the host'
    try {
      const result = await run(programs.printEnvironment, { env: { MINE: 'a = b\nc', EMPTY: '' } })
      const { PATH, HOME, TMPDIR, GIT_CONFIG_NOSYSTEM, ...rest } = environmentOf(result)
      if (result.receipt.protection === 'restricted') {
        assert.match(String(HOME), ownWorkspace)
        assert.equal(GIT_CONFIG_NOSYSTEM, '1')
        assert.equal(TMPDIR, HOME?.replace(/workspace$/, 'tmp'))
      } else assert.deepEqual([HOME, TMPDIR, GIT_CONFIG_NOSYSTEM], ['/workspace', undefined, undefined])
      assert.deepEqual(rest, {
        USER: 'guest',
        LANG: 'C.UTF-8',
        TZ: 'UTC',
        MINE: 'a = b\nc',
        EMPTY: '',
      })
      assert.match(
        String(PATH),
        programs.toolchainOnPath
          ? /^\/[^:]+:\/usr\/local\/bin:\/usr\/bin:\/bin$/
          : /^\/usr\/local\/bin:\/usr\/bin:\/bin$/,
      )
    } finally {
      delete process.env['LAZARET_TEST_SECRET']
    }
  })

  it('lets the request change a documented variable', async () => {
    const { TZ } = environmentOf(await run(programs.printEnvironment, { env: { TZ: 'Asia/Tokyo' } }))
    assert.equal(TZ, 'Asia/Tokyo')
  })

  it('starts in an empty folder of its own', async () => {
    const { stdout } = await run(programs.printNames('.'))
    assert.equal(stdout.trim(), '')
    const { stdout: folder, receipt } = await run(programs.printLinks('/proc/self/cwd'))
    assert.match(folder.trimEnd(), receipt.protection === 'restricted' ? ownWorkspace : /^\/workspace$/)
  })

  it('reads the files of the request, nested, empty, binary and oddly named', async () => {
    const files = {
      'plain.txt': 'plain',
      'one/two/three.txt': 'nested',
      empty: '',
      binary: new Uint8Array(256).map((_, index) => index),
      "it's “odd” \n$name ✓": 'odd',
      '-n': 'dash',
      '...': 'dots',
    }
    const paths = Object.keys(files).map((path) => `./${path}`)
    const chunks: Uint8Array[] = []
    await run(programs.printFiles(...paths), { files, onOutput: ({ bytes }) => chunks.push(bytes) })
    const sent = Object.values(files).map((content) => Buffer.from(content as string))
    assert.deepEqual(Buffer.concat(chunks), Buffer.concat(sent))
  })

  it('owns its files and folders as guest', async () => {
    const files = { 'folder/file': 'content' }
    const { stdout, receipt } = await run(programs.printOwnership('folder/file', 'folder', '.'), { files })
    const { protection, observed } = receipt
    const owner = [observed['Uid'], observed['Gid']].map((ids) => ids?.split(' ')[0]).join(' ')
    // On the host's disk other users can reach this folder, but not enter it.
    const ownMode = protection === 'restricted' ? 700 : 755
    assert.equal(stdout, `644 ${owner}\n755 ${owner}\n${ownMode} ${owner}\n`)
  })

  it('reads a file of a megabyte, which is sent in several pieces', async () => {
    const content = Buffer.alloc(1_048_577, 'abcdefg')
    const { stdout } = await run(programs.printFiles('big'), { files: { big: content } })
    assert.ok(stdout === content.toString(), 'the content differs')
  })
}

function environmentOf({ stdout }: RunResult): Record<string, string> {
  const entries = stdout.split('\0').filter((entry) => entry !== '')
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
}
