/**
 * Which process a test file runs in. This is derived from the file's text, so there is no list to maintain. A file that is
 * not known to be harmless gets its own process.
 *
 * - `pure`: starts no process, no thread and no cell. All of these share one process, whoever runs them.
 * - `shared`: runs guests with the Lazaret of `useLazaret()`. A few dozen of these files share a process and that Lazaret.
 *   After each file `shared-process.ts` checks that it has left the process unchanged.
 * - `by turns`: creates and ends its own Lazarets, sandboxes or launchers. A few dozen of these files run in one process, one
 *   after another, with the same check.
 * - `alone`: everything else.
 */
import { computedImport, filesLoadedBy, readSource } from './imports.ts'

export type TestClass = 'pure' | 'shared' | 'by turns' | 'alone'

/** Modules of Node that start nothing and open no sockets. */
const harmless = [
  ...['assert/strict', 'buffer', 'crypto', 'events', 'fs', 'fs/promises', 'os', 'path', 'path/posix'],
  ...['stream', 'stream/consumers', 'string_decoder', 'test', 'timers/promises', 'url', 'util', 'v8', 'zlib'],
].map((name) => `node:${name}`)

/** Also allowed for files that run guests: the leak check finds guests, servers and children that outlive their file. */
const harmlessBesideGuests = [
  ...harmless,
  ...[
    'child_process',
    'dgram',
    'dns',
    'dns/promises',
    'http',
    'http2',
    'https',
    'inspector',
    'module',
    'net',
  ].map((name) => `node:${name}`),
  ...['readline', 'stream/promises', 'vm'].map((name) => `node:${name}`),
  computedImport,
]

/**
 * A file with these words measures its own process, stops its clock or changes what all files see. If they occur only in a
 * guest's code, the file gets its own process needlessly.
 */
const ofTheWholeProcess = [
  /\bmock\b|\bgc\(/,
  /\bprocess\.(memoryUsage|resourceUsage|cpuUsage|threadCpuUsage|report|setuid|umask|chdir|title)\b/,
  /\bloop-delay\b|\bresident-memory\b/,
  // A registered SDK stays for all later files.
  /\bsetGlobal(TracerProvider|ContextManager)\b/,
  // The bundler adds a global name.
  /\bfrom 'rolldown'/,
]

/** A harness finds its packages from the program that its process was started with. In a test these are words of guests. */
const looksAtOwnProgram = /\bprocess\.argv\b/

/** These files kill or count the children of their own process. */
const looksAtChildren = /\blistDescendants\(process\.pid\)|\blistCells\(/

const known = new Map<string, TestClass>()

export function classOf(file: string): TestClass {
  const found = known.get(file) ?? classify(file)
  known.set(file, found)
  return found
}

function classify(file: string): TestClass {
  if (file.endsWith('.timing.test.ts')) return 'alone'
  const loaded = filesLoadedBy(file)
  const ofTests = loaded.filter((one) => !one.startsWith('src/'))
  if (ofTests.some((one) => ofTheWholeProcess.some((words) => words.test(readSource(one).text))))
    return 'alone'
  const ofHarnesses = loaded.filter((one) => one.startsWith('src/'))
  if (ofHarnesses.some((one) => looksAtOwnProgram.test(readSource(one).text))) return 'alone'
  if (modulesOf(loaded).every((name) => isHarmless(name, harmless))) return 'pure'
  if (!modulesOf(ofTests).every((name) => isHarmless(name, harmlessBesideGuests))) return 'alone'
  if (/\buseLazaret\(\)/.test(readSource(file).text)) return 'shared'
  // A slow file would delay the others.
  if (file.startsWith('test-deep/') || looksAtChildren.test(readSource(file).text)) return 'alone'
  return 'by turns'
}

function modulesOf(files: readonly string[]): string[] {
  return [...new Set(files.flatMap((file) => readSource(file).modules))]
}

function isHarmless(name: string, allowed: readonly string[]): boolean {
  // Packages are not modules of Node; they are judged by the modules that they import.
  return allowed.includes(name) || !(name.startsWith('node:') || name === computedImport)
}
