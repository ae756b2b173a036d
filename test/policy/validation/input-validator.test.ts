/** What validation finds, what it ignores, and how it handles programs that are meant to break it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import type { RunRequest } from '../../../src/core/request.ts'
import type { Validation } from '../../../src/core/validation.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { InputValidator } from '../../../src/policy/validation/input-validator.ts'
import type { ValidatedLanguage } from '../../../src/policy/validation/rules.ts'
import { validationRules } from '../../../src/policy/validation/rules.ts'
import { readText } from '../../support/sources/checkout.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { innocent, javascriptSamples, pythonSamples, typescriptSamples } from './samples.ts'
import type { Sample } from './samples.ts'

const lazaret = createLazaret({ onEvent: () => undefined })
const validator = new InputValidator({ lazaret })
after(async () => {
  await validator[Symbol.asyncDispose]()
  await lazaret[Symbol.asyncDispose]()
})

const say = ({ findings }: Validation) => findings.map(({ rule, line }) => `${rule} ${line}`).toSorted()

async function findAll(samples: readonly Sample[], language: ValidatedLanguage): Promise<void> {
  for (const [code, ...found] of samples) {
    const validation = await validator.validate(code, language)
    assert.deepEqual(say(validation), found.toSorted(), code.slice(0, 200))
    const isHigh = found.some((one) => levelOf(one) === 'high')
    assert.equal(validation.riskLevel, isHigh ? 'high' : 'medium', code.slice(0, 200))
    assert.equal(validation.isSafe, false)
  }
}

function levelOf(found: string): string {
  const [rule = ''] = found.split(' ')
  return validationRules[rule as keyof typeof validationRules].level
}

test('it finds violations of the rules in Python', async () => {
  assert.ok(pythonSamples.length >= 40)
  await findAll(pythonSamples, 'python')
})

test('it finds violations of the rules in JavaScript, and the same in TypeScript', async () => {
  assert.ok(javascriptSamples.length >= 40)
  await findAll(javascriptSamples, 'javascript')
  await findAll(javascriptSamples, 'typescript')
  await findAll(typescriptSamples, 'typescript')
})

test('it finds nothing in ordinary programs', async () => {
  assert.ok(innocent.length >= 20)
  for (const [language, code] of innocent) {
    const nothing = { isSafe: true, riskLevel: 'safe', findings: [] }
    assert.deepEqual(await validator.validate(code, language), nothing, code)
  }
})

test('computed names of attributes are found', async () => {
  for (const code of [
    'import operator\nprint(operator.attrgetter("__cl" + f"ass__")(()))',
    'name = ("\\x5f_class__" * 2)[:9]',
    'name = "gi_" + f"frame"',
  ]) {
    const { findings } = await validator.validate(code, 'python')
    assert.deepEqual(
      findings.map(({ rule }) => rule),
      ['dunder-escape'],
      code,
    )
  }
})

test('every rule finds something in a sample of each of its languages', () => {
  const seenIn = (samples: readonly Sample[]) =>
    new Set(samples.flatMap(([, ...found]) => found.map((one) => one.split(' ')[0] ?? '')))
  const seen = { Python: seenIn(pythonSamples), JavaScript: seenIn(javascriptSamples) }
  for (const [rule, { languages }] of Object.entries(validationRules))
    for (const language of languages)
      assert.ok(rule === 'import-not-allowed' || seen[language].has(rule), `${rule}: ${language}`)
})

test('a finding has its rule, a sentence, and its place in the numbering of editors', async () => {
  const { findings } = await validator.validate('äö = "é"; eval(äö)', 'python')
  assert.deepEqual(findings, [
    { rule: 'dynamic-code', message: '`eval` runs text as code.', line: 1, column: 11 },
  ])
  const inJavaScript = await validator.validate('const ä = "é"\n;  eval(ä)', 'javascript')
  assert.deepEqual(inJavaScript.findings, [
    { rule: 'dynamic-code', message: '`eval` runs text as code.', line: 2, column: 4 },
  ])
})

test('with a list, only the modules on it may be imported', async () => {
  const imports = { python: ['math', 'urllib'], javascript: ['node:path', '@scope/pack', 'child_process'] }
  await using strict = new InputValidator({ lazaret, imports })
  const python =
    'import math\nimport urllib.request\nfrom json import loads\nfrom . import own\nimport os.path'
  assert.deepEqual(say(await strict.validate(python, 'python')), [
    'import-not-allowed 3',
    'import-not-allowed 5',
  ])
  const javascript = [
    'import "path"',
    'import { spawn } from "node:child_process"',
    'import "@scope/pack/deep.js"',
    'import "./own.js"',
    'import "@scope/other"',
    'const fs = require("fs")',
  ]
  const found = ['import-not-allowed 5', 'import-not-allowed 6']
  assert.deepEqual(say(await strict.validate(javascript.join('\n'), 'javascript')), found)
  assert.deepEqual(say(await strict.validate(javascript.join('\n'), 'typescript')), found)
})

test('code that is too long, not a string, or in a language that it does not read is refused', async () => {
  for (const language of ['python', 'javascript', 'typescript'] as const) {
    await validator.validate(' '.repeat(50_000), language)
    await assert.rejects(validator.validate(' '.repeat(50_001), language), {
      code: 'CODE_REJECTED',
      message: /50001 characters; validation reads at most 50000/,
    })
    await assert.rejects(validator.validate(7 as never, language), { code: 'INVALID_REQUEST' })
  }
  await assert.rejects(validator.validate(':', 'shell' as never), { code: 'INVALID_REQUEST' })
})

/** Nested as deeply as their length allows, slow for some parsers, or full of findings. */
const hostile = [
  '('.repeat(50_000),
  `${'['.repeat(25_000)}${']'.repeat(25_000)}`,
  `${'-'.repeat(49_999)}1`,
  `a${'.b'.repeat(24_000)}`,
  `x=${'"a"+'.repeat(12_000)}"b"`,
  `"${'{.__'.repeat(12_000)}"`,
  'eval(1);'.repeat(6000),
  '`${'.repeat(16_000),
  `${'<T>('.repeat(40)}1`,
  'if x:\n'.repeat(8000),
  '\ud800'.repeat(1000),
  'a<'.repeat(20_000),
]

test('no program breaks it, keeps it busy for long, or blocks the event loop', async () => {
  await keepLoopFree('validation of hostile programs', async () => {
    for (const code of hostile)
      for (const language of ['python', 'javascript', 'typescript'] as const) {
        const { findings } = await validator.validate(code, language)
        assert.ok(findings.length <= 100 + Object.keys(validationRules).length)
      }
  })
  assert.deepEqual(say(await validator.validate('eval(1)', 'javascript')), ['dynamic-code 1'])
})

test('a program that takes too long does not delay others', async () => {
  const slow = validator.validate(`${'<T>('.repeat(40)}1`, 'typescript', { client: 'mallory' })
  const { findings } = await validator.validate('eval(1)', 'typescript', { client: 'ada' })
  assert.equal(findings.length, 1)
  assert.deepEqual(say(await slow), ['unreadable 1'])
})

test('quotes in findings are short, on one line, and of visible characters', async () => {
  const { findings } = await validator.validate(`open("/\\x1b[31m\\n${'x'.repeat(300)}")`, 'python')
  const message = findings[0]?.message ?? ''
  assert.match(message, /^`\/\?\[31m\?x+…?` is a path outside of the workspace\.$/)
  assert.ok(message.length < 130)
})

test('a caller that gives up gets its reason, and the next one its answer', async () => {
  const reason = new Error('no longer needed')
  for (const language of ['python', 'javascript'] as const) {
    const asking = { signal: AbortSignal.abort(reason) }
    await assert.rejects(validator.validate('1', language, asking), reason)
    assert.equal((await validator.validate('1', language)).isSafe, true)
  }
})

test('the page on the agent executor has every rule with its level and its languages', () => {
  const rows = Object.entries(validationRules).map(
    ([rule, { level, languages, says }]) => `| \`${rule}\` | ${level} | ${languages.join(', ')} | ${says} |`,
  )
  const table = readText('docs/guide/agent-executor.md')
    .split('\n')
    .filter((line) => / \| (?:high|medium) \| /.test(line))
  assert.deepEqual(table, rows)
})

test('quotes of a program contain no line breaks, hidden characters or changes of direction', async () => {
  const hidden = [
    '\u2028',
    '\u2029',
    '\u202e',
    '\u2066',
    '\u200b',
    '\ufeff',
    '\u00ad',
    '\u061c',
    '\u3164',
    '\u00a0',
    '\ud800',
  ]
  for (const character of hidden) {
    const code = `import fs from 'node:fs'\nfs.readFileSync('/etc/${character}x')`
    const { findings } = await validator.validate(code, 'javascript')
    assert.deepEqual(
      findings.map(({ message }) => message),
      ['`/etc/?x` is a path outside of the workspace.'],
    )
  }
})

test('a program with a Python warning at each line is still analyzed', async () => {
  // Newer versions show such warnings by default; this makes all versions show them.
  const prefix = 'import warnings\nwarnings.simplefilter("always")\n'
  const noisy = { run: (request: RunRequest) => lazaret.run({ ...request, code: prefix + request.code }) }
  await using validation = new InputValidator({ lazaret: noisy })
  const code = '"\\d"\n'.repeat(8000)
  assert.equal((await validation.validate(code, 'python')).riskLevel, 'safe')
})
