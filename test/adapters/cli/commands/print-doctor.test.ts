import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configurationLines, doctorLines } from '../../../../src/adapters/cli/output/print-doctor.ts'
import type { ProbeReport } from '../../../../src/jail/machine/probe-report.ts'

const report: ProbeReport = {
  level: 'standard',
  minimum: 'strong',
  meetsMinimum: false,
  layers: [
    { name: 'user namespaces', state: 'ok', observed: 'created' },
    {
      name: 'cgroup',
      state: 'missing',
      observed: 'mkdir: EROFS',
      meaning: 'Memory is counted late.',
      fix: 'In the unit:\n  [Service]\n  Delegate=yes',
    },
  ],
  toolchains: [
    { name: 'bun', state: 'ok', path: '/opt/bun', version: '1.4.5' },
    { name: 'python', state: 'missing', fix: 'apt install python3' },
  ],
  launcher: { path: '/opt/cell', state: 'ok' },
  kernel: 'Linux 6.18.5',
  facts: {},
}

test('each layer, toolchain and launcher has a line with its state, followed by the meaning and the fix', () => {
  assert.deepEqual(doctorLines(report, { isTTY: false }), [
    'Linux 6.18.5',
    'ok       user namespaces  created',
    'missing  cgroup           mkdir: EROFS',
    '         Memory is counted late.',
    '         → In the unit:',
    '             [Service]',
    '             Delegate=yes',
    'ok       bun              1.4.5  /opt/bun',
    'missing  python           not found',
    '         → apt install python3',
    'ok       launcher         /opt/cell',
    '',
    'protection level: standard (minimum: strong)',
    'Runs are refused here until the fixes above raise the level, or until the minimum is lowered by name.',
  ])
})

test('if the minimum is met, refusals are not mentioned', () => {
  const lines = doctorLines({ ...report, minimum: 'restricted', meetsMinimum: true }, { isTTY: false })
  assert.equal(lines.at(-1), 'protection level: standard (minimum: restricted)')
})

test('each configuration file has a line that says what it may set', () => {
  assert.deepEqual(configurationLines([]), ['configuration: none'])
  const lines = configurationLines([
    { path: '/home/app/.config/lazaret/lazaret.config.json', from: 'user', use: 'full' },
    { path: '/srv/a\u001b[8m/lazaret.config.json', from: 'found', use: 'narrows' },
    { path: '/tmp/lazaret.config.json', from: 'found', use: 'none', reason: '/tmp is theirs' },
  ])
  assert.deepEqual(lines, [
    "configuration: /home/app/.config/lazaret/lazaret.config.json (the user's, sets every option)",
    'configuration: /srv/a [8m/lazaret.config.json (found in this folder or above, only narrows)',
    'configuration: /tmp/lazaret.config.json (found in this folder or above, ignored: /tmp is theirs)',
  ])
})
