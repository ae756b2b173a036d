/** Runs one pass of `node --test` in its own temporary folder, which must be empty afterwards. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { endProcessesWith } from './end-processes.ts'
import { missing } from './failures.ts'
import { junitVariable } from './junit.ts'
import { keepReport } from './kept-results.ts'
import { lostLaunchers } from './lost-launchers.ts'
import { pathWithOwnPython } from './own-python.ts'
import type { Pass } from './plan/passes.ts'
import { planProcesses, writeProcesses } from './plan/processes.ts'
import { notesVariable } from './process-notes.ts'
import { noResults } from './results.ts'
import type { PassResults } from './results.ts'
import { excusableFiles, lostFiles, untilCalm, withSecondRun } from './run-again.ts'
import { oldestHost, thisHost } from './test-host.ts'
import type { TestHost } from './test-host.ts'
import { watchProcesses } from './watch-processes.ts'
import { WithoutLayers } from '../../test/support/hosts/without-layer.ts'

/** Ends a test, or a hook, that waits for ever. */
const testMs = 120_000

const asUser = join(import.meta.dirname, 'as-user.ts')

export async function runPass(planned: Pass): Promise<PassResults> {
  // Somebody may be editing while earlier passes run, so a file may be gone by now.
  const pass = { ...planned, files: planned.files.filter((file) => existsSync(file)) }
  const obstacle = findObstacle(pass)
  if (obstacle !== undefined) {
    return { ...noResults, skipped: [{ name: `everything ${pass.name}`, reason: obstacle }] }
  }
  const host = pass.isOnOldest === true ? oldestHost() : thisHost
  using folders = makeFolders(pass, host)
  const results = await runFilesAgain(pass, folders, await runFiles(pass, folders))
  const litter = [
    ...(await leftIn(folders.temporary)).map((name) => `temporary folder: ${name}`),
    ...(await lostLaunchers()),
  ]
  for (const left of litter) process.stdout.write(`✖ left behind by a test ${pass.name}: ${left}\n`)
  const failures = [...results.failures, ...litter.map((left) => `left behind: ${left}`)]
  return { ...results, failures, failed: results.failed + litter.length }
}

const removalMs = 20_000
const lookEveryMs = 100

/** The launcher of a killed host removes its guests' files, which may take a while. */
async function leftIn(folder: string): Promise<string[]> {
  const deadline = performance.now() + removalMs
  for (;;) {
    const left = readdirSync(folder).filter((name) => !isOfDeadHost(folder, name))
    if (left.length === 0 || performance.now() > deadline) return left
    await pause(lookEveryMs)
  }
}

/** A killed host, or a terminated worker thread, leaves the empty folder of its runs; the next start removes it. */
function isOfDeadHost(folder: string, name: string): boolean {
  if (!/^lazaret-\d+-\d+-\d+-\d+$/.test(name)) return false
  try {
    return readdirSync(join(folder, name)).length === 0
  } catch (error) {
    // Removed at this moment.
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** The reason if the pass cannot run at all. */
function findObstacle({ userId, files }: Pass): string | undefined {
  if (userId === undefined) return undefined
  const look = `for (const file of process.argv.slice(1)) fs.accessSync(file, fs.constants.R_OK)`
  const seen = spawnSync(process.execPath, [asUser, String(userId), process.execPath, '-e', look, ...files], {
    encoding: 'utf8',
  })
  if (seen.status === 0) return undefined
  const why = /^.*\bE[A-Z]+\b.*$/m.exec(seen.stderr)?.[0] ?? seen.stderr.trim().split('\n').at(-1)
  return `uid ${userId} cannot use this checkout (${why}); move it to where every user may read it`
}

interface Folders extends Disposable {
  readonly host: TestHost
  readonly home: string
  readonly temporary: string
  /** Node's compile cache: each test file is a process, and most load the same modules. */
  readonly compiled: string
  readonly results: string
  /** What processes note for process-notes.ts. */
  readonly notes: string
  /** The generated files that each run several test files in one process. */
  readonly groups: string
  readonly without: WithoutLayers | undefined
}

function makeFolders({ userId, lacking }: Pass, host: TestHost): Folders {
  const root = mkdtempSync(join(tmpdir(), 'lazaret-test-'))
  const inRoot = (name: string) => join(root, name)
  const folders = {
    home: inRoot('home'),
    temporary: inRoot('tmp'),
    compiled: inRoot('compiled'),
    results: inRoot('results'),
    notes: inRoot('notes'),
    groups: inRoot('groups'),
  }
  for (const folder of Object.values(folders)) mkdirSync(folder)
  // The mode of /tmp, because root's tests become other users, and guests have their own ids.
  chmodSync(root, 0o711)
  chmodSync(folders.temporary, 0o1777)
  // Node keeps one cache for each user. Otherwise commands that tests start as another user would be compiled each time.
  chmodSync(folders.compiled, 0o1777)
  if (userId !== undefined) for (const folder of Object.values(folders)) chownSync(folder, userId, userId)
  const without = lacking === undefined ? undefined : new WithoutLayers()
  return {
    ...folders,
    host,
    without,
    [Symbol.dispose]() {
      without?.[Symbol.dispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** How often a file must pass alone after it has failed among others. */
const passesAgain = 2

/** Runs files again whose reports were lost, and the few whose failure the load of the machine may explain. */
async function runFilesAgain(pass: Pass, folders: Folders, first: PassResults): Promise<PassResults> {
  let results = first
  const again = async (files: readonly string[], processes: number): Promise<PassResults> => {
    const second = await runFiles({ ...pass, files, processes }, folders)
    results = withSecondRun(results, second, files)
    return second
  }
  const lost = lostFiles(pass.files, results)
  if (lost.length > 0) {
    process.stdout.write(`\n${pass.name}: ${lost.length} files again, whose reports were lost\n`)
    await again(lost, pass.processes)
  }
  const failed = pass.mayFailOnce ? excusableFiles(pass.files, results) : []
  for (let count = 1; count <= passesAgain && failed.length > 0; count++) {
    const pressure = Math.round(await untilCalm())
    process.stdout.write(
      `\n${pass.name}: ${failed.length} failed files again, alone (${count} of ${passesAgain}; ` +
        `processes wait for a processor ${pressure} % of the time)\n`,
    )
    if ((await again(failed, 1)).failed > 0) break
  }
  return results
}

async function runFiles(pass: Pass, folders: Folders): Promise<PassResults> {
  if (pass.files.length === 0) return noResults
  const { host } = folders
  const resultsFile = join(folders.results, 'results.json')
  const processes = planProcesses(pass.files)
  const reporters = join(host.folder, 'scripts/testing')
  const command = [
    '--test',
    `--import=${join(reporters, 'test-process.ts')}`,
    `--test-concurrency=${pass.processes}`,
    `--test-timeout=${testMs}`,
    `--test-reporter=${join(reporters, 'reporter.ts')}`,
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(reporters, 'results.ts')}`,
    `--test-reporter-destination=${resultsFile}`,
    ...writeProcesses(processes, { folder: folders.groups, root: host.folder }),
  ]
  const asWhom = pass.userId === undefined ? [] : [process.execPath, asUser, String(pass.userId)]
  const lacking = folders.without?.command(pass.lacking ?? [], []) ?? []
  const [program = process.execPath, ...words] = [
    ...ownMounts(),
    ...asWhom,
    ...lacking,
    host.node,
    ...command,
  ]
  const child = spawn(program, words, {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: host.folder,
    env: { ...environment(pass, folders), ...host.environment },
  })
  const stopWatch = watchProcesses(folders.notes)
  const isInTime = await waitFor(child, pass.wallMs).finally(() => {
    stopWatch()
    // Tests that were stopped could not end their own.
    for (const [name, value] of Object.entries(notesVariable(folders.notes))) endProcessesWith(name, value)
  })
  keepReport(pass.name, junitFile(folders))
  const results = readResults(resultsFile)
  const problems = isInTime ? [] : [`did not end within ${pass.wallMs / 1000} s`]
  if (results === undefined) problems.push('ended without results')
  else problems.push(...findMissing(pass.files, results))
  for (const problem of problems) process.stdout.write(`✖ the pass ${pass.name}: ${problem}\n`)
  const { failed, failures, ...others } = results ?? noResults
  return { ...others, failures: [...failures, ...problems], failed: failed + problems.length }
}

const junitFile = (folders: Folders): string => join(folders.results, 'junit.xml')

/**
 * Root's tests have their own mount namespace: what others mount meanwhile (a login, a container) is not theirs, and would look
 * like a leak.
 */
function ownMounts(): readonly string[] {
  if (process.getuid?.() !== 0) return []
  return ['unshare', '--mount', '--propagation', 'private', '--']
}

/** The files that a process had not started when it ended early. */
function findMissing(files: readonly string[], results: PassResults): string[] {
  const ended = new Set(results.files.map(({ file }) => file))
  return files.filter((file) => !ended.has(file)).map(missing)
}

/**
 * Another user gets nothing of the environment of the user who started the runner, which may name that user's folders.
 */
function environment({ userId, isInForks, files }: Pass, folders: Folders): NodeJS.ProcessEnv {
  const { home, temporary, compiled, notes } = folders
  const forks = isInForks === true ? { LAZARET_TESTS_IN_FORKS: '1' } : {}
  const own = {
    ...{ TMPDIR: temporary, NODE_COMPILE_CACHE: compiled, LAZARET_TESTS_FILES: String(files.length) },
    ...notesVariable(notes),
    ...junitVariable(junitFile(folders)),
    // The leak check needs to know whether its mount namespace is another one.
    LAZARET_TESTS_OUTER_MOUNTS: readlinkSync('/proc/self/ns/mnt'),
    ...forks,
  }
  if (userId === undefined) return { ...process.env, ...own, PATH: pathWithOwnPython() }
  const { PATH, NODE_EXTRA_CA_CERTS: certificates } = process.env
  return {
    ...{ PATH, LANG: 'C.UTF-8', HOME: home, ...own },
    // The certificates that this machine trusts. Without them a plain user could reach no registry.
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates }),
  }
}

/** The runner was interrupted; no further pass may start. */
export class Interrupted extends Error {}

/** Returns whether the process ended on its own within `wallMs`. */
async function waitFor(child: ChildProcess, wallMs: number): Promise<boolean> {
  const deadline = AbortSignal.timeout(wallMs)
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  const either = AbortSignal.any([deadline, interruption.signal])
  either.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, interrupt)
  await once(child, 'exit')
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.off(name, interrupt)
  if (interruption.signal.aborted) throw new Interrupted()
  return !deadline.aborted
}

function readResults(file: string): PassResults | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PassResults
  } catch {
    return undefined
  }
}
