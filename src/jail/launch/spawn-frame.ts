/** The frames that start a guest and report its end, as bytes. */
import { constants } from 'node:os'

import { PayloadWriter } from './frames.ts'
import type { BeginSpec, HeldLimits, ProcessEnd, ProcessReport, SpawnSpec } from '../cell/guest-process.ts'
import type { Rlimit } from '../limits/rlimits.ts'

const flagBits = {
  hasStdin: 1,
  hasChannel: 2,
  endsOnOutput: 4,
  collects: 8,
  forks: 16,
  hasState: 32,
  hasTerminal: 64,
  adopts: 128,
  files: 256,
  hasOwnChannel: 512,
  splits: 1024,
}

/** The payload of a SPAWN frame; the reading half is take_program in native/cell/serve/guest.c. */
export function encodeSpawn(spec: SpawnSpec): Buffer {
  const payload = new PayloadWriter().u32(
    (spec.stdin === undefined ? 0 : flagBits.hasStdin) |
      (spec.channel === 'cell' ? flagBits.hasChannel : 0) |
      (spec.channel === 'own' ? flagBits.hasOwnChannel : 0) |
      (spec.isFork === true ? flagBits.forks : 0) |
      (spec.forkOf === undefined ? 0 : flagBits.splits) |
      (spec.hasState === true ? flagBits.hasState : 0) |
      (spec.terminal === undefined ? 0 : flagBits.hasTerminal) |
      (spec.adopts === true ? flagBits.adopts : 0) |
      (spec.isCollector === true ? flagBits.collects : 0) |
      (spec.isFileTask === true ? flagBits.files : 0) |
      (spec.isCollector === true || spec.isFileTask === true || spec.dropsExcess === true
        ? 0
        : flagBits.endsOnOutput),
  )
  writeHeld(payload, spec).string(spec.folder).string(spec.file)
  writeRlimits(payload, spec.rlimits)
  const environment = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`)
  for (const strings of [spec.argv, environment]) {
    payload.u32(strings.length)
    for (const text of strings) payload.string(text)
  }
  if (spec.terminal !== undefined) payload.u32(spec.terminal.columns).u32(spec.terminal.rows)
  if (spec.forkOf !== undefined) payload.u32(spec.forkOf)
  return payload.finish()
}

/** The payload of a BEGIN frame; the reading half is begin_spawn in native/cell/serve/begin.c. */
export function encodeBegin(spec: BeginSpec): Buffer {
  const payload = writeHeld(new PayloadWriter(), spec)
  writeRlimits(payload, spec.rlimits)
  payload.u64(spec.work?.bytesMax ?? 0).u64(spec.work?.entriesMax ?? 0)
  payload.u32(spec.resized.length)
  for (const { path, flags, options } of spec.resized) payload.string(path).u64(flags).string(options)
  return payload.finish()
}

function writeHeld(payload: PayloadWriter, { outputBytes, wallMs, watched }: HeldLimits): PayloadWriter {
  return payload
    .u64(outputBytes)
    .u64(watched.memoryBytes ?? 0)
    .u64(watched.cpuMs ?? 0)
    .u64(wallMs)
    .u64(watched.socketBytes ?? 0)
    .u64(watched.tasksMax ?? 0)
    .u64(watched.filesMax ?? 0)
}

/** Sent with the number of the resource; the reading half is take_rlimits in native/cell/serve/limits.c. */
const besideOthers = 1 << 8

function writeRlimits(payload: PayloadWriter, rlimits: readonly Rlimit[]): void {
  payload.u32(rlimits.length)
  for (const { resource, soft, hard, isBesideOthers } of rlimits)
    payload
      .u32(resource | (isBesideOthers === true ? besideOthers : 0))
      .u64(soft)
      .u64(hard)
}

/** Aliases such as SIGIOT come after the usual name, so the first one stays. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
)

export function signalName(number: number): string {
  return signalNames.get(number) ?? `SIG${number}`
}

/** The payload of an EXIT frame; the writing half is report_exit in native/cell/serve/guests.c. */
export function decodeExit(payload: Buffer): ProcessReport {
  const number = payload.readUInt32LE(1)
  const end: ProcessEnd =
    payload.readUInt8(0) === 1
      ? { by: 'signal', signal: signalName(number) }
      : { by: 'exit', exitCode: number }
  const u64 = (at: number) => Number(payload.readBigUInt64LE(at))
  return {
    end,
    cpuMs: (u64(5) + u64(13)) / 1000,
    residentPeakBytes: u64(21) * 1024,
    droppedBytes: { stdout: u64(29), stderr: u64(58) },
    watchdogPeakBytes: u64(37),
    diskFull: payload.readUInt8(45) === 1,
    elapsedMs: u64(46) / 1000,
    forksRefusedToPid1: payload.readUInt32LE(54),
  }
}
