/** The shape of the code, held by reading its imports. The picture is in ARCHITECTURE.md. */
import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { test } from 'node:test'
import { codeLines, importsOf, listFiles, readText } from './support/checkout.ts'

/** The life of a run. A folder imports itself and folders further on. */
const order = [
  'adapters',
  'engine',
  'sandbox',
  'policy',
  'pool',
  'runtimes',
  'jail',
  'result',
  'observe',
  'core',
]

const sources = listFiles('src', ['.ts'])
const edges = sources.map((file) => ({
  file,
  targets: importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(dirname(file), specifier)),
}))

/** Runs inside the cell, in the guest's process. */
const guestFiles = sources.filter(
  (file) => file.startsWith('src/runtimes/javascript/') && !file.endsWith('/host.ts'),
)
/** What the cell shows to these files besides themselves: see the binds in src/runtimes/javascript/host.ts. */
const guestPackages = ['acorn', 'oxc-transform']

function placeOf(file: string): number {
  return order.indexOf(file.split('/')[1] ?? '')
}

test('every folder of src is a station in the life of a run', () => {
  const strangers = sources.filter((file) => file !== 'src/index.ts' && placeOf(file) === -1)
  assert.deepEqual(strangers, [])
})

test('a folder imports only itself and folders further on', () => {
  const wrong = edges.flatMap(({ file, targets }) =>
    targets.filter((target) => placeOf(target) < placeOf(file)).map((target) => `${file} imports ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('every import of a local file names a file that exists, with its ending', () => {
  const wrong = edges.flatMap(({ file, targets }) =>
    targets.filter((target) => !sources.includes(target)).map((target) => `${file}: ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('no file imports itself through others', () => {
  const targetsOf = new Map(edges.map(({ file, targets }) => [file, targets]))
  const clear = new Set<string>()
  const cycleFrom = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (clear.has(file)) return undefined
    for (const target of targetsOf.get(file) ?? []) {
      const cycle = cycleFrom(target, [...path, file])
      if (cycle !== undefined) return cycle
    }
    clear.add(file)
    return undefined
  }
  for (const { file } of edges) assert.equal(cycleFrom(file, [])?.join(' → '), undefined)
})

test('only the public entries re-export', () => {
  const barrels = sources.filter((file) =>
    /^export (?:type )?(?:\*|\{[^}]*\}) .*from '/m.test(readText(file)),
  )
  const { exports } = JSON.parse(readText('package.json')) as {
    exports: Record<string, { default?: string }>
  }
  const entries = Object.values(exports).flatMap(({ default: built }) =>
    built === undefined ? [] : [built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')],
  )
  assert.deepEqual(barrels.toSorted(), entries.toSorted())
})

test('what runs beside the guest imports node:, its own folder, the words and the packages the cell shows', () => {
  const isAllowed = (file: string, specifier: string): boolean => {
    if (specifier.startsWith('node:')) return builtinModules.includes(specifier.slice('node:'.length))
    if (!specifier.startsWith('.')) return guestPackages.includes(specifier)
    const target = join(dirname(file), specifier)
    return (
      guestFiles.includes(target) ||
      target.startsWith('src/core/') ||
      target === 'src/runtimes/channel-protocol.ts'
    )
  }
  const wrong = guestFiles.flatMap((file) =>
    importsOf(file)
      .filter((specifier) => !isAllowed(file, specifier))
      .map((specifier) => `${file} imports ${specifier}`),
  )
  assert.ok(guestFiles.length > 0)
  assert.deepEqual(wrong, [])
})

test('a built-in module is named with node:', () => {
  const wrong = edges.flatMap(({ file }) => importsOf(file).filter((name) => builtinModules.includes(name)))
  assert.deepEqual(wrong, [])
})

test('time and randomness come from the clock alone', () => {
  const direct =
    /\bDate\.now\b|\bnew Date\(\)|\bset(Timeout|Interval|Immediate)\b|\bperformance\b|\bhrtime\b|['"](node:)?timers\b|\bAbortSignal\.timeout\b|\bMath\.random\b|\brandom(UUID|Bytes|Int|FillSync)\b|\bgetRandomValues\b/
  const users = sources
    .filter((file) => !guestFiles.includes(file)) // A guest has no clock of ours to hold.
    .filter((file) => codeLines(file).some(({ text }) => direct.test(text)))
  assert.deepEqual(users, ['src/core/clock.ts'])
})

test('nothing is unbounded by default', () => {
  /** The reason why the word may stand there. */
  const exceptions: Readonly<Record<string, string>> = {
    'src/core/decode-leaf.ts': 'a value of a guest can be Infinity',
    'src/runtimes/javascript/bare/globals.ts': 'the language has a global of this name',
    'src/runtimes/javascript/console-table.ts':
      'the cells of console.table are one line each; their number is bounded',
  }
  const users = sources.filter((file) =>
    codeLines(file).some(({ text }) => /(^|[^'\w])Infinity\b(?!')/.test(text)),
  )
  assert.deepEqual(users, Object.keys(exceptions))
})
