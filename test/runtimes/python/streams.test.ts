/** However a run starts, its standard streams are those of `python3 file` in every property. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { levelHere } from '../../support/machine/level-here.ts'
import { runParked } from '../../support/run-parked.ts'
import { noPools } from '../../support/use-lazaret.ts'
import { python } from './guest-process.ts'

/**
 * Lists every attribute that is data, and the result of every method without an argument that only asks, of each stream and
 * of its layers. Then reads the input, whose line ends show what no attribute does.
 */
const code = `
import os, sys
def describe(stream, depth=0):
    found = {"type": type(stream).__name__}
    for name in sorted(dir(stream)):
        if name.startswith("__") or name in ("buffer", "raw"):
            continue
        try:
            value = getattr(stream, name)
            if callable(value):
                if name not in ("isatty", "fileno", "readable", "writable", "seekable", "_checkClosed"):
                    continue
                value = value()
        except Exception as error:
            value = type(error).__name__
        found[name] = value if isinstance(value, (bool, int, str, type(None))) else type(value).__name__
    for layer in ("buffer", "raw"):
        if hasattr(stream, layer):
            found[layer] = describe(getattr(stream, layer))
    return found
streams = {name: describe(getattr(sys, name)) for name in ("stdin", "stdout", "stderr")}
same = [getattr(sys, name) is getattr(sys, "__" + name + "__") for name in ("stdin", "stdout", "stderr")]
import fileinput, inspect
lines = [input(), sys.stdin.readline(), next(sys.stdin), *fileinput.input("-"), sys.stdin.newlines]
`
const stdin = 'a\r\nb\rc\n\u00e9\r\r\nlast\r'
const shown = '[streams, same, lines]'

/** stdout has a flush per line, which the documentation tells. */
function expected(): unknown {
  const print = `${code}\nimport json\nprint(json.dumps(${shown}))`
  const text = execFileSync(python, ['-I', '-X', 'utf8', '-c', print], { input: stdin, encoding: 'utf8' })
  const [streams, ...others] = JSON.parse(text) as [Record<string, Record<string, unknown>>, ...unknown[]]
  return [{ ...streams, stdout: { ...streams['stdout'], line_buffering: true } }, ...others]
}

const request = { language: 'python', code: `${code}\n${shown}`, stdin } as const

test('cold, parked and forked runs have the streams of python3 itself', async () => {
  await using cold = createLazaret({ pools: noPools, toolchains: { python } })
  const { value, stderr } = await cold.run(request)
  assert.deepEqual(value, expected(), stderr)
  for (const forks of [true, false]) {
    await using warm = createLazaret({
      pools: { ...noPools, python: { max: 1, ...(forks ? {} : { forks: false }) } },
      toolchains: { python },
    })
    const result = await runParked(warm)(request)
    const start = forks && (await levelHere()) !== 'restricted' ? 'forked' : 'parked'
    assert.equal(result.receipt.start, start)
    assert.deepEqual(result.value, value, start)
  }
})
