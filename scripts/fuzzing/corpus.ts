/**
 * The kept inputs: `native/fuzz/corpus/<target>.bin` has the minimised inputs that reach new code, one after another,
 * each after its length. A file in `native/fuzz/regressions/<target>/` is an input that once broke something.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { makeSeeds } from './seeds.ts'

const fuzz = join(import.meta.dirname, '../../native/fuzz')
export const regressionsFolder = (target: string): string => join(fuzz, 'regressions', target)
const packOf = (target: string) => join(fuzz, 'corpus', `${target}.bin`)

/** The smallest inputs come first, so those that do not fit contribute least for their size. */
const packBytesMax = 128 * 1024

/** All inputs of a target: the corpus, the regressions, and generated seeds. */
export function readInputs(target: string): Buffer[] {
  return [...readRegressions(target), ...makeSeeds(target), ...unpack(target)]
}

export function writeInputs(target: string, folder: string): string[] {
  mkdirSync(folder, { recursive: true })
  const named = new Map(readInputs(target).map((input) => [digest(input), input]))
  return Array.from(named, ([name, input]) => {
    writeFileSync(join(folder, name), input)
    return join(folder, name)
  })
}

/** Keeps the inputs of a minimised folder, the smallest first, as long as there is room. */
export function keepInputs(target: string, folder: string): { kept: number; bytes: number } {
  const inputs = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name)))
    .sort((a, b) => a.length - b.length || Buffer.compare(a, b))
  const parts: Buffer[] = []
  let bytes = 0
  for (const input of inputs) {
    if (bytes + input.length + 4 > packBytesMax) break
    const length = Buffer.alloc(4)
    length.writeUInt32LE(input.length)
    parts.push(length, input)
    bytes += input.length + 4
  }
  mkdirSync(join(fuzz, 'corpus'), { recursive: true })
  writeFileSync(packOf(target), Buffer.concat(parts))
  return { kept: parts.length / 2, bytes }
}

function readRegressions(target: string): Buffer[] {
  const folder = regressionsFolder(target)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name)))
}

function unpack(target: string): Buffer[] {
  const file = packOf(target)
  if (!existsSync(file)) return []
  const bytes = readFileSync(file)
  const inputs: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32LE(at)
    inputs.push(bytes.subarray(at + 4, end))
    at = end
  }
  return inputs
}

function digest(input: Buffer): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 24)
}
