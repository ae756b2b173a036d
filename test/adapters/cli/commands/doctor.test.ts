import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { ProbeReport } from '../../../../src/jail/machine/probe-report.ts'
import { runCli } from '../spawn-cli.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

test('doctor names every layer and toolchain with its state, and the level', async () => {
  const [plain, machine] = await Promise.all([runCli(['doctor']), runCli(['doctor', '--json'])])
  const report = JSON.parse(machine.stdout) as ProbeReport
  assert.equal(plain.exitCode, report.meetsMinimum ? 0 : 69)
  assert.equal(machine.exitCode, plain.exitCode)
  for (const { state, name, observed } of report.layers) {
    const line = plain.stdout
      .split('\n')
      .find(
        (text) =>
          text.slice(state.length).trimStart().startsWith(`${name} `) &&
          withoutIds(text).includes(withoutIds(observed)),
      )
    assert.ok(line?.startsWith(state), `${name}: ${line}`)
  }
  for (const { state, name } of report.toolchains) {
    assert.match(plain.stdout, new RegExp(`^${state} +${name} `, 'm'))
  }
  assert.match(plain.stdout, new RegExp(`^protection level: ${report.level} \\(minimum: standard\\)$`, 'm'))
})

test('doctor names the configuration files in use, as text and as JSON', async () => {
  await using folder = await createTemporaryFolder()
  await using own = await createTemporaryFolder()
  const found = join(folder.path, 'lazaret.config.json')
  const user = join(own.path, 'lazaret', 'lazaret.config.json')
  await mkdir(dirname(user))
  for (const path of [found, user]) await writeFile(path, '{"ceilings":{"wallMs":1000}}', { mode: 0o644 })
  const surroundings = { cwd: folder.path, env: { XDG_CONFIG_HOME: own.path } }
  const { stdout } = await runCli(['doctor'], surroundings)
  const lines = stdout.split('\n').filter((line) => line.startsWith('configuration: '))
  assert.deepEqual(lines.slice(0, 2), [
    `configuration: ${user} (the user's, sets every option)`,
    `configuration: ${found} (found in this folder or above, only narrows)`,
  ])
  const env = { LAZARET_CONFIG: user }
  const { configuration } = JSON.parse((await runCli(['doctor', '--json'], { ...surroundings, env })).stdout)
  assert.deepEqual(configuration, [{ path: user, from: 'environment', use: 'full' }])
})

test('doctor exits with 69 only if the level is below the minimum', async () => {
  const { exitCode, stdout } = await runCli(['doctor', '--json', '--minimum', 'strong'])
  const { level, minimum, meetsMinimum } = JSON.parse(stdout) as ProbeReport
  assert.equal(minimum, 'strong')
  assert.equal(meetsMinimum, level === 'strong')
  assert.equal(exitCode, meetsMinimum ? 0 : 69)
})

/** Each cell has its own ids, which are visible if there is no user namespace. */
function withoutIds(text: string): string {
  return text.replaceAll(/\buid \d+/g, 'uid …')
}
