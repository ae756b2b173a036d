/**
 * `--collect` of a command: the sandbox lists its files, the host chooses some, and the sandbox reads them. Processes that
 * the command left behind still run, so a file may have grown, been replaced or vanished: it is left out, with a message.
 */
import { systemClock } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import { chooseFiles, fitToLimits } from '../../../runtimes/collect/choice.ts'
import { type CollectedFiles, lostFiles } from '../../../runtimes/collect/collect-files.ts'
import { Deadline } from '../../../runtimes/collect/deadline.ts'
import type { ListedFile } from '../../../runtimes/collect/listing.ts'
import { parsePattern } from '../../../runtimes/collect/pattern.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'

export interface CollectBound {
  readonly resultBytes: number
  readonly signal: AbortSignal
}

/** A separate process reads each file, so ten thousand files take a while. */
const collectMs = 60_000
const entriesMax = 100_000
const readersMax = 4

/** Never rejects because of what a guest did. */
export async function collectFromSandbox(
  sandbox: Sandbox,
  texts: readonly string[],
  { resultBytes, signal }: CollectBound,
): Promise<CollectedFiles> {
  const deadline = new Deadline(collectMs, systemClock, signal)
  try {
    const listing = await deadline.race(unlessRefused(listRegularFiles(sandbox)))
    if (listing === undefined) return lostFiles
    const choice = await chooseFiles(listing, texts.flatMap(parsePattern), deadline)
    const { wanted, isComplete } = fitToLimits(choice, resultBytes)
    const files = await readFiles(sandbox, wanted, deadline)
    return { files: Object.fromEntries(files), isComplete: isComplete && files.length === wanted.length }
  } finally {
    deadline.cancel()
  }
}

async function listRegularFiles(sandbox: Sandbox) {
  const { entries, isComplete } = await sandbox.listFiles('/workspace', { recursive: true, entriesMax })
  return { entries: entries.filter(({ type }) => type === 'file'), isComplete }
}

async function readFiles(
  sandbox: Sandbox,
  wanted: readonly ListedFile[],
  deadline: Deadline,
): Promise<[path: string, content: Uint8Array][]> {
  const contents = new Map<string, Uint8Array>()
  const waiting = wanted.values()
  const read = async (): Promise<void> => {
    for (const { path, bytes } of waiting) {
      if (await deadline.isOver()) return
      const options = { encoding: 'bytes', bytesMax: bytes } as const
      const content = await unlessRefused(sandbox.readFile(`/workspace/${path}`, options))
      if (content !== undefined) contents.set(path, content)
    }
  }
  await deadline.race(Promise.all(Array.from({ length: readersMax }, read)))
  return wanted.flatMap(({ path }) => {
    const content = contents.get(path)
    return content === undefined ? [] : [[path, content] as [string, Uint8Array]]
  })
}

/** Undefined if the guest has made it impossible: by the modes of its folders, or by using up all processes. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LazaretError) return undefined
    throw error
  }
}
