/**
 * Which processes the tests of a file need. It is derived from what the file says, so that nobody keeps a list: a file
 * that is not known to be harmless has its own process.
 *
 * - `pure`: starts no process, no thread and no cell. All of these share one process, whoever runs them.
 * - `shared`: runs guests with the Lazaret that `useLazaret()` makes for everyone. A few dozen of these share a process
 *   and that Lazaret; `shared-process.ts` looks after each file whether it has left the process as it was.
 * - `by turns`: makes Lazarets, sandboxes or launchers of its own and ends them. A few dozen of these have a process one
 *   after another, which `shared-process.ts` looks after in the same way.
 * - `alone`: everything else.
 */
import { computedImport, filesLoadedBy, readSource } from './imports.ts'

export type TestClass = 'pure' | 'shared' | 'by turns' | 'alone'

/** Modules of Node that start nothing and open no sockets. */
const harmless = [
  ...['assert/strict', 'buffer', 'crypto', 'events', 'fs', 'fs/promises', 'os', 'path', 'path/posix'],
  ...['stream', 'stream/consumers', 'string_decoder', 'test', 'timers/promises', 'url', 'util', 'v8', 'zlib'],
].map((name) => `node:${name}`)

/** What guests have started, and servers and children of a test's own, end with its file: the leak check looks. */
const harmlessBesideGuests = [
  ...harmless,
  ...['child_process', 'dgram', 'dns', 'dns/promises', 'http', 'inspector', 'module', 'net', 'vm'].map(
    (name) => `node:${name}`,
  ),
  computedImport,
]

/**
 * A file with these words measures the process that it runs in, stops its clock or changes what all files see. Where they
 * stand in the code of a guest the file has a process for nothing.
 */
const ofTheWholeProcess = [
  /\bmock\b|\bgc\(/,
  /\bprocess\.(memoryUsage|resourceUsage|cpuUsage|threadCpuUsage|report|setuid|umask|chdir|title)\b/,
  /\bloop-delay\b|\bresident-memory\b/,
  // An SDK is there for everybody from then on.
  /\bsetGlobal(TracerProvider|ContextManager)\b/,
  // The bundler leaves its own name among the globals.
  /\bfrom 'rolldown'/,
  // Looks at all names that there are, which makes some of them.
  /\bnode-names\b/,
]

/** A harness finds its packages from the program that its process was started with. */
const looksAtOwnProgram = /\bprocess\.argv\b/

/** These strike, or count, what their own process has started. */
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
  if (loaded.some((one) => looksAtOwnProgram.test(readSource(one).text))) return 'alone'
  if (modulesOf(loaded).every((name) => isHarmless(name, harmless))) return 'pure'
  if (!modulesOf(ofTests).every((name) => isHarmless(name, harmlessBesideGuests))) return 'alone'
  if (/\buseLazaret\(\)/.test(readSource(file).text)) return 'shared'
  // A file that takes long would only keep others waiting.
  if (file.startsWith('test-deep/') || looksAtChildren.test(readSource(file).text)) return 'alone'
  return 'by turns'
}

function modulesOf(files: readonly string[]): string[] {
  return [...new Set(files.flatMap((file) => readSource(file).modules))]
}

function isHarmless(name: string, allowed: readonly string[]): boolean {
  // A package that is not Node's own does whatever its modules do.
  return allowed.includes(name) || !(name.startsWith('node:') || name === computedImport)
}
