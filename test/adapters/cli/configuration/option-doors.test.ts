/** Three doors to the same options: the library, a configuration file, the flags. None has a separate list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CommandContext } from '../../../../src/adapters/cli/commands/command-context.ts'
import { parseConfig, parseFoundConfig } from '../../../../src/adapters/cli/configuration/config-file.ts'
import { optionFlags } from '../../../../src/adapters/cli/options/engine-flags.ts'
import { limitFlags, limitsFrom } from '../../../../src/adapters/cli/options/limit-flags.ts'
import { findWidening } from '../../../../src/adapters/cli/options/narrow-options.ts'
import { createProgram } from '../../../../src/adapters/cli/program.ts'
import type { RunRequest } from '../../../../src/core/request.ts'
import { type OptionName, optionRows } from '../../../../src/engine/options/option-table.ts'
import { parseOptions } from '../../../../src/engine/options/parse-options.ts'
import type { ExecOptions, SandboxOptions } from '../../../../src/sandbox/types.ts'
import { optionSamples } from '../../../support/option-samples.ts'

const names = (files: (of: unknown) => boolean) =>
  optionRows.filter(([, option]) => files(option.files)).map(([name]) => name)
const plain = names((files) => files !== 'none')
const trusted = names((files) => files === 'trusted')
const narrowing = names((files) => typeof files !== 'string')

const only = (name: OptionName) => ({ [name]: optionSamples[name] })

test('every option of the library is in the table, and the library accepts it', () => {
  assert.deepEqual(optionRows.map(([name]) => name).toSorted(), Object.keys(optionSamples).toSorted())
  for (const [name] of optionRows) assert.deepEqual(parseOptions(only(name))[name], optionSamples[name])
})

test('every option that a file can contain has the same effect as in the library', () => {
  for (const name of plain) {
    const written = parseConfig(JSON.stringify(only(name)), '/srv/lazaret.config.json')
    assert.deepEqual(written, only(name))
    assert.deepEqual(parseOptions(written), parseOptions(only(name)))
  }
  for (const [name] of optionRows.filter(([key]) => !plain.includes(key)))
    assert.throws(() => parseConfig(`{"${name}":{}}`, '/c.json'), new RegExp(`unknown key "${name}"`))
})

test('a value that the library refuses is refused in a file', () => {
  const wrong = {
    pools: { bun: { min: 9 } },
    preload: ['os; import sys'],
    uidRange: { first: 0, count: 512 },
  }
  for (const [name, value] of Object.entries(wrong)) {
    assert.throws(() => parseOptions({ [name]: value }), { message: new RegExp(name) })
    assert.throws(() => parseConfig(JSON.stringify({ [name]: value }), '/c.json'), {
      name: 'UsageError',
      message: new RegExp(`/c\\.json: ${name}`),
    })
  }
})

test('a found file sets limits and the level; other keys are reported, and their values ignored', () => {
  assert.deepEqual(narrowing, ['minimumProtection', 'defaults', 'ceilings'])
  for (const name of trusted)
    for (const value of [optionSamples[name], null, { host: '/no/such/folder' }]) {
      const wish = parseFoundConfig(JSON.stringify({ [name]: value }), '/c.json')
      assert.deepEqual(findWidening({}, wish), [`\`${name}\``])
    }
})

/** The other flags, which belong to a request or to the command itself. */
const requestFlags = {
  language: 'language',
  eval: 'code',
  runtime: 'runtime',
  input: 'input',
  stdin: 'stdin',
  env: 'env',
  client: 'client',
  file: 'files',
  collect: 'collect',
  network: 'network',
  envName: 'environment',
  allow: 'network',
  deny: 'network',
  secret: 'secrets',
} satisfies Record<string, keyof RunRequest>
const sandboxFlags = { allowDegradedSecrets: 'allowDegradedSecrets' } satisfies Record<
  string,
  keyof SandboxOptions
>
const execFlags = { variable: 'variables' } satisfies Record<string, keyof ExecOptions>
const ownFlags = [
  ...['config', 'json', 'outputDir', 'apparmor', 'http', 'tokens', 'validation', 'sandboxes', 'history'],
  ...[
    'accessLog',
    'host',
    'port',
    'unix',
    'publicHost',
    'tlsCert',
    'tlsKey',
    'drain',
    'bound',
    'cors',
    'open',
  ],
]

test('every flag sets an option, a limit or a field of the request', () => {
  const tables = [optionFlags, limitFlags, requestFlags, sandboxFlags, execFlags]
  const known = [...tables.flatMap((table) => Object.keys(table)), ...ownFlags]
  const commands = createProgram({} as CommandContext).commands
  const flags = new Set(commands.flatMap(({ options }) => options.map((flag) => flag.attributeName())))
  assert.deepEqual([...flags].toSorted(), known.toSorted())
})

test('flags accept the values that the library accepts', () => {
  for (const { option, choices } of Object.values(optionFlags))
    for (const choice of choices) assert.equal(parseOptions({ [option]: choice })[option], choice)
  const texts = { '<duration>': '2s', '<size>': '64MiB', '<n>': '16' }
  for (const [name, { limit, value, parse }] of Object.entries(limitFlags)) {
    const limits = limitsFrom({ [name]: parse(texts[value]) })
    assert.deepEqual(Object.keys(limits), [limit])
    assert.deepEqual(parseOptions({ defaults: limits }).defaults, limits)
  }
})
