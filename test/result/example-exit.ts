import type { Exit } from '../../src/result/exit.ts'
import { nothingKnown } from '../../src/result/exit.ts'

/** A program that ended well and used little. */
export const goodExit: Exit = {
  end: { by: 'exit', exitCode: 0 },
  killReason: null,
  oomKills: 0,
  forksRefused: 0,
  diskFull: false,
  dataLimited: false,
  memoryPeakBytes: 1000,
  cpuMs: 5,
  wallMs: 10,
  outputBytes: 0,
  stdout: '',
  stderr: '',
  truncated: [],
  claims: { logs: [], displays: [] },
  observed: {},
  layers: [],
  heldBy: nothingKnown.heldBy,
}
