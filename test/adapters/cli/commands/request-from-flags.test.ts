import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readProgram } from '../../../../src/adapters/cli/options/program-source.ts'
import { limitsFrom } from '../../../../src/adapters/cli/options/limit-flags.ts'
import { createRequest, parseEnv } from '../../../../src/adapters/cli/options/request-from-flags.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const signal = new AbortController().signal
const program = { code: '1', language: 'javascript', args: [] } as const

test('only limits on the command line are part of the request', () => {
  assert.deepEqual(limitsFrom({}), {})
  assert.deepEqual(limitsFrom({ timeout: 1, cpu: 2, memory: 3, processes: 4, disk: 5, output: 6 }), {
    wallMs: 1,
    cpuMs: 2,
    memoryBytes: 3,
    processesMax: 4,
    diskBytes: 5,
    outputBytes: 6,
  })
})

test('a variable is split at its first equals sign, and the last one of a name is used', () => {
  assert.deepEqual(parseEnv(['A=1', 'B=x=y', 'C=', 'A=2']), { A: '2', B: 'x=y', C: '' })
  for (const pair of ['A', '=1', '']) assert.throws(() => parseEnv([pair]), { name: 'UsageError' }, pair)
})

test('the input is JSON, here or in a file', async () => {
  await using folder = await createTemporaryFolder()
  const path = join(folder.path, 'input.json')
  await writeFile(path, '[1, 2]')
  const context = { signal, warn: assert.fail }
  assert.deepEqual((await createRequest(program, { input: '{"a":1}' }, context)).input, { a: 1 })
  assert.deepEqual((await createRequest(program, { input: `@${path}` }, context)).input, [1, 2])
  assert.equal('input' in (await createRequest(program, {}, context)), false)
  await assert.rejects(createRequest(program, { input: '{a:1}' }, context), {
    name: 'UsageError',
    message: /--input is not JSON/,
  })
  await assert.rejects(createRequest(program, { input: '@none.json' }, context), /none\.json: no such file/)
})

test('the program is --eval or the first operand, and the other operands are its arguments', async () => {
  await using folder = await createTemporaryFolder()
  const path = join(folder.path, 'a.py')
  await writeFile(path, '\ufeffprint(1)')
  assert.deepEqual(await readProgram(['x', '--y'], { eval: '1', language: 'shell' }, { signal }), {
    code: '1',
    language: 'shell',
    args: ['x', '--y'],
  })
  assert.deepEqual(await readProgram([path, '--', '-l'], {}, { signal }), {
    code: 'print(1)',
    language: 'python',
    args: ['--', '-l'],
  })
})

test('a program that is missing, binary, too long or of an unknown language is refused with a hint', async () => {
  await using folder = await createTemporaryFolder()
  const path = join(folder.path, 'a.js')
  await writeFile(path, Buffer.from([0xff, 0xfe, 0x00]))
  const read = (operands: string[], flags = {}) =>
    readProgram(operands, { ...flags }, { signal, codeBytes: 2 })
  await assert.rejects(read([]), /nothing to run/)
  await assert.rejects(read(['notes.txt']), /names no language/)
  await assert.rejects(read(['-']), /language of standard input/)
  await assert.rejects(read(['-'], { stdin: '-', language: 'shell' }), /both/)
  await assert.rejects(read(['none.js']), /cannot read none\.js: no such file/)
  await assert.rejects(read([folder.path], { language: 'shell' }), /illegal operation on a directory/)
  await assert.rejects(read([path]), { code: 'INPUT_TOO_LARGE' })
  await assert.rejects(readProgram([path], {}, { signal }), /not UTF-8/)
})

test('an input or a program that is too long names the limit that can be raised', async () => {
  const context = { signal, warn: assert.fail }
  await assert.rejects(createRequest(program, { stdin: '/dev/zero' }, context), {
    code: 'INPUT_TOO_LARGE',
    hint: /raise `defaults\.inputBytes`/,
  })
  await assert.rejects(readProgram(['/dev/zero'], { language: 'python' }, { signal }), {
    code: 'INPUT_TOO_LARGE',
    hint: /raise `defaults\.codeBytes`/,
  })
})
