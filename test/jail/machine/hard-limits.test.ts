/** A service may have low hard rlimits. Its guests get the lower of these and their own figures. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { both, resource } from '../../../src/jail/limits/rlimits.ts'
import { readHardLimit, withinHost } from '../../../src/jail/machine/hard-limits.ts'
import { mainPath } from '../../adapters/cli/spawn-cli.ts'

const arePiped = /^[|@]/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'))
const skip = arePiped && 'the host collects cores, so cells need a core limit of 1'

test('a figure above the hard limit of this process is lowered to it, and no other figure changes', () => {
  const hard = readHardLimit('Max open files') ?? Number.MAX_SAFE_INTEGER
  const wanted = { resource: resource.openFiles, soft: 7, hard: hard + 1 }
  const others = [
    both(resource.openFiles, hard),
    both(resource.nice, 0),
    both(resource.data, 4096),
    { ...both(resource.openFiles, hard + 1), isBesideOthers: true },
  ]
  const { rlimits, folder } = withinHost({ folder: '/', rlimits: [wanted, ...others] })
  assert.deepEqual([folder, rlimits], ['/', [{ ...wanted, hard }, ...others]])
})

test('cells work below low hard limits, even without core files', { skip }, () => {
  const limits = 'ulimit -c 0; ulimit -l 0; ulimit -q 0; ulimit -i 64; ulimit -f 100000'
  const below = (...args: string[]) =>
    spawnSync(
      'bash',
      ['-c', `${limits}; exec "$0" "$@"`, process.execPath, mainPath, ...args, '--minimum', 'restricted'],
      { encoding: 'utf8', input: '6 * 7' },
    )
  const ran = below(
    'run',
    '--language',
    'python',
    '--eval',
    'import resource as r; r.getrlimit(r.RLIMIT_CORE)',
  )
  assert.deepEqual([ran.stdout, ran.stderr], ['(0, 0)\n', ''])
  const command = 'printf 1 > file; ulimit -H -f'
  const executed = below('run', '--language', 'shell', '--collect', 'file', '--json', '--eval', command)
  const { stdout, files } = JSON.parse(executed.stdout) as { stdout: string; files: object }
  assert.deepEqual([stdout, Object.keys(files)], ['100000\n', ['file']])
})
