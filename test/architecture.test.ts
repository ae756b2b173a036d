/** Checks the structure of the code by its imports. ARCHITECTURE.md has the picture. */
import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { test } from 'node:test'
import { declarationsIn, definitionsIn, includeGraph, nodeOf } from './support/sources/c-files.ts'
import { codeLines, importsOf, listFiles, readText } from './support/sources/checkout.ts'
import { findCycle } from './support/sources/cycles.ts'

/** Folders in the order of a run's life. A folder imports only itself and later ones. */
const order = [
  'adapters',
  'engine',
  'environments',
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

/** Files that run inside the cell: in the guest's process, or in the guest's isolate. */
const guestFiles = sources.filter(
  (file) =>
    (file.startsWith('src/runtimes/javascript/') && !file.endsWith('/host.ts')) ||
    file.startsWith('src/runtimes/isolate/inside/'),
)
/** The packages that the cell shows to these files: see the binds in src/runtimes/javascript/host.ts. */
const guestPackages = ['acorn', 'oxc-transform']

function placeOf(file: string): number {
  return order.indexOf(file.split('/')[1] ?? '')
}

test('every folder of src is in the list of layers', () => {
  const strangers = sources.filter((file) => file !== 'src/index.ts' && placeOf(file) === -1)
  assert.deepEqual(strangers, [])
})

test('a folder imports only itself and later folders', () => {
  const wrong = edges.flatMap(({ file, targets }) =>
    targets.filter((target) => placeOf(target) < placeOf(file)).map((target) => `${file} imports ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('every import of a local file names an existing file, with its extension', () => {
  const wrong = edges.flatMap(({ file, targets }) =>
    targets.filter((target) => !sources.includes(target)).map((target) => `${file}: ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('no file imports itself through others', () => {
  assert.equal(findCycle(new Map(edges.map(({ file, targets }) => [file, targets]))), undefined)
})

test('an import cycle is detected, in the launcher, too', () => {
  const files = [
    {
      path: 'watch/memory.c',
      text: '#include "watch/memory.h"\n#include "watch/sockets.h"\n',
    },
    { path: 'watch/sockets.h', text: '#include "watch/dog.h"\n' },
    { path: 'watch/dog.c', text: '#include <unistd.h>\n#include "watch/memory.h"\n' },
  ]
  assert.equal(findCycle(includeGraph(files)), 'watch/memory → watch/sockets → watch/dog → watch/memory')
  assert.equal(findCycle(includeGraph(files.slice(1))), undefined)
})

/** From the program's start to its parts. A file includes only its own folder and later ones. */
const launcherOrder = ['main', 'build', 'nursery', 'serve', 'watch', 'files', 'words']
const launcher = listFiles('native/cell', ['.c', '.h']).map((path) => ({
  path: path.slice('native/cell/'.length),
  text: readText(path),
}))

function launcherPlaceOf(node: string): number {
  const folder = node.includes('/') ? (node.split('/')[0] ?? '') : node === 'main' ? 'main' : 'words'
  return launcherOrder.indexOf(folder)
}

test('no file of the launcher includes itself through others, or a folder above its own', () => {
  const graph = includeGraph(launcher)
  assert.equal(findCycle(graph), undefined)
  const wrong = [...graph].flatMap(([node, targets]) =>
    targets
      .filter((target) => !graph.has(target) || launcherPlaceOf(target) < launcherPlaceOf(node))
      .map((target) => `${node} includes ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('exported functions of a launcher file are declared only in its own header', () => {
  const declared = launcher.flatMap((file) => declarationsIn(file).map((name) => `${name} ${file.path}`))
  const defined = launcher
    .filter(({ path }) => path.endsWith('.c'))
    .flatMap((file) => definitionsIn(file).map((name) => `${name} ${nodeOf(file.path)}.h`))
  assert.ok(defined.length > 150)
  assert.deepEqual(declared.toSorted(), defined.filter((name) => name !== 'main main.h').toSorted())
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

test('code that runs inside cells imports only node:, its own folder, core and packages that cells show', () => {
  const isAllowed = (file: string, specifier: string): boolean => {
    if (specifier.startsWith('node:')) return builtinModules.includes(specifier.slice('node:'.length))
    if (!specifier.startsWith('.')) return guestPackages.includes(specifier)
    const target = join(dirname(file), specifier)
    return (
      guestFiles.includes(target) ||
      target.startsWith('src/core/') ||
      target === 'src/runtimes/channel/channel-protocol.ts'
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
    .filter((file) => !guestFiles.includes(file)) // A guest has no `Clock`.
    .filter((file) => codeLines(file).some(({ text }) => direct.test(text)))
  assert.deepEqual(users, ['src/adapters/client/platform.ts', 'src/core/clock.ts'])
})

test('nothing is unbounded by default', () => {
  /** The reason why the word is allowed there. */
  const exceptions: Readonly<Record<string, string>> = {
    'src/core/values/decode-leaf.ts': 'a value of a guest can be Infinity',
    'src/runtimes/javascript/bare/globals.ts': 'the language has a global of this name',
    'src/runtimes/javascript/console/console-table.ts':
      'the cells of console.table are one line each; their number is bounded',
  }
  const users = sources.filter((file) =>
    codeLines(file).some(({ text }) => /(^|[^'\w])Infinity\b(?!')/.test(text)),
  )
  assert.deepEqual(users, Object.keys(exceptions))
})
