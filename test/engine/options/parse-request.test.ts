import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'

import { defaultLimits } from '../../../src/core/limits.ts'
import type { RunRequest } from '../../../src/core/request.ts'
import { parseRequest } from '../../../src/engine/options/parse-request.ts'

const minimal = { code: '1', language: 'javascript' } as const

test('a valid request is parsed completely', () => {
  const request = {
    ...minimal,
    runtime: 'node',
    input: { deep: [1n, new Map()] },
    args: ['', '-x', 'ü'],
    files: { 'a/b': 'text', c: new Uint8Array([1]) },
    stdin: new Uint8Array([2]),
    env: { A_1: '', _: 'x' },
    limits: { wallMs: 1, cpuMs: null },
    network: 'host',
    client: 'me',
    signal: new AbortController().signal,
    onOutput: () => undefined,
  } as const satisfies RunRequest
  const { spec, handles } = parseRequest(request)
  assert.deepEqual({ ...spec, ...handles }, request)
  assert.equal(spec.input, request.input)
  assert.deepEqual(parseRequest(minimal), { spec: minimal, handles: {} })
})

const nul = 'a\0b'
const tooLong = 'x'.repeat(128 * 1024)
const wrong: readonly (readonly [what: string, fields: unknown, named: RegExp])[] = [
  ['code that is no text', { code: 1 }, /code/],
  ['code with NUL', { code: nul }, /code: must not contain NUL/],
  ['an unknown language', { language: 'perl' }, /language/],
  ['an unknown runtime', { runtime: 'deno' }, /runtime/],
  ['an unknown key', { colour: 5 }, /Unknown key "colour"; known keys: code, language, .*, keepOutput\.$/],
  ['a key of another library', { timeout: 5 }, /Unknown key "timeout"; known .*; write limits\.wallMs\.$/],
  ['a limit among the other keys', { memoryBytes: 5 }, /"memoryBytes"; .*; write limits\.memoryBytes\.$/],
  ['arguments that are no list', { args: 'x' }, /args/],
  ['an argument that is no text', { args: ['a', 1] }, /args\[1\]/],
  ['an argument with NUL', { args: [nul] }, /args\[0\]/],
  ['an argument longer than the kernel takes', { args: [tooLong] }, /args\[0\]: is longer than 128 KiB/],
  ['too many arguments', { args: Array.from({ length: 1001 }, () => '') }, /args/],
  ['a variable with = in its name', { env: { 'A=B': '' } }, /env\["A=B"\]/],
  ['a variable whose name begins with a digit', { env: { '1A': '' } }, /env/],
  ['a variable without a name', { env: { '': '' } }, /env/],
  ['a variable with NUL in its value', { env: { A: nul } }, /env\.A/],
  ['a variable that is no text', { env: { A: 1 } }, /env\.A/],
  ['a variable longer than the kernel takes', { env: { A: tooLong } }, /env\.A/],
  ['a variable with an endless name', { env: { ['A'.repeat(300)]: '' } }, /env/],
  [
    'too many variables',
    { env: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`A${index}`, ''])) },
    /env/,
  ],
  ['stdin that is neither text nor bytes', { stdin: [1] }, /stdin/],
  ['a file that is neither text nor bytes', { files: { a: 1 } }, /files\.a/],
  ...[
    '',
    '/etc/passwd',
    '../x',
    'a/../../x',
    './x',
    'a//b',
    'a/',
    '.',
    '..',
    `a/${'x'.repeat(256)}`,
    nul,
    'a/'.repeat(64) + 'b',
  ].map(
    (path) => [`a file at ${JSON.stringify(path.slice(0, 20))}`, { files: { [path]: '' } }, /files/] as const,
  ),
  [
    'too many files',
    { files: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, ''])) },
    /files: more than 10000/,
  ],
  [
    'a file that is a folder of another',
    { files: { a: '', 'a/b/c': '' } },
    /files: a is a file and a folder/,
  ],
  [
    'a file called __proto__, which would be dropped in silence',
    { files: JSON.parse('{"__proto__":"x"}') },
    /files.*__proto__/,
  ],
  ['a variable called __proto__', { env: JSON.parse('{"__proto__":"x"}') }, /env.*__proto__/],
  ['an unknown limit', { limits: { seconds: 1 } }, /limits.*seconds/],
  ['a negative limit', { limits: { wallMs: -1 } }, /limits\.wallMs/],
  ['an unknown network', { network: 'vpn' }, /network/],
  ['a client with an endless name', { client: 'x'.repeat(257) }, /client/],
  ['a signal that is none', { signal: { aborted: true } }, /signal/],
  ['a listener that is no function', { onOutput: 'x' }, /onOutput/],
]

for (const [what, fields, named] of wrong) {
  test(`${what}: refused, and named`, () => {
    const request = { ...minimal, ...(fields as object) } as RunRequest
    assert.throws(() => parseRequest(request), { code: 'INVALID_REQUEST', message: named })
  })
}

for (const nothing of [undefined, null, 'code', 5, []]) {
  test(`${JSON.stringify(nothing) ?? 'nothing'} is not a request`, () => {
    assert.throws(() => parseRequest(nothing as unknown as RunRequest), { code: 'INVALID_REQUEST' })
  })
}

test('odd but harmless names are allowed', () => {
  const files = { '...': '', '-rf': '', 'a b\n': '', 日本語: '', '.hidden': '', ['x'.repeat(255)]: '' }
  assert.deepEqual(parseRequest({ ...minimal, files }).spec.files, files)
})

test('a refusal says what is expected, in terms of the API', () => {
  class Tools {
    list = () => []
  }
  const wanted: readonly (readonly [object, string])[] = [
    [{ files: { a: 5 } }, 'files.a: must be a string or bytes (a Uint8Array).'],
    [{ files: [] }, 'files: must be a plain object.'],
    [{ functions: new Tools() }, 'functions: must be a plain object whose values are functions.'],
    [{ functions: null }, 'functions: must be a plain object whose values are functions.'],
    [{ functions: { constructor: () => 1 } }, 'functions.constructor: is a name with a special meaning.'],
    [{ functions: { toString: () => 1 } }, 'functions.toString: is a name with a special meaning.'],
    [{ args: 'x' }, 'args: must be a list.'],
    [{ code: 5 }, 'code: must be a string.'],
    [{ language: 'ruby' }, 'language: must be one of "javascript", "typescript", "python", "shell".'],
    [{ limits: { wallMs: 0.5 } }, 'limits.wallMs: must be a whole number.'],
    [{ limits: { wallMs: 0 } }, 'limits.wallMs: must be at least 1.'],
    [{ limits: { wallMs: 2 ** 31 } }, 'limits.wallMs: must be at most 2147483647.'],
    [
      { limits: { wall: 1 } },
      `limits: unknown key "wall"; known keys: ${Object.keys(defaultLimits).join(', ')}.`,
    ],
    [{ client: 'x'.repeat(257) }, 'client: must have at most 256 characters.'],
    [{ args: Array.from({ length: 1001 }, () => '') }, 'args: must have at most 1000 members.'],
    [{ signal: 5 }, 'signal: must be an AbortSignal.'],
    [{ onOutput: 5 }, 'onOutput: must be a function.'],
    [{ onLog: {} }, 'onLog: must be a function.'],
    [{ onDisplay: 'x' }, 'onDisplay: must be a function.'],
    [{ onClear: 5 }, 'onClear: must be a function.'],
  ]
  for (const [part, detail] of wanted) {
    assert.throws(
      () => parseRequest({ ...minimal, ...part }),
      (error: Error) => error.message.endsWith(detail),
      detail,
    )
  }
})

test('functions may come from an object without a prototype or of another realm', () => {
  const add = () => 1
  for (const functions of [
    Object.assign(Object.create(null) as object, { add }),
    Object.assign(runInNewContext('({})') as object, { add }),
  ])
    assert.deepEqual(parseRequest({ ...minimal, functions }).spec.functionNames, ['add'])
})

test('a refusal of thousands of unknown keys names a few of them', () => {
  const strange = Object.fromEntries(
    Array.from({ length: 9000 }, (_, number) => [`key-${number}`.repeat(20), 1]),
  )
  assert.throws(
    () => parseRequest({ ...minimal, ...strange }),
    ({ message }: Error) =>
      message.length < 3000 && /^[^]*key-7[^]* and 8992 more; known keys: code/.test(message),
  )
})
