/** A host process for tests that kill it: opens a zygote, parks two guests of it, prints `ready`, and waits. */
import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { openZygote } from '../../../src/jail/cell/zygote-cell.ts'
import { planPythonZygote } from '../../../src/runtimes/python/zygote.ts'
import { findPythonWith } from '../machine/find-python.ts'
import { ParkedGuest } from '../parked-guest.ts'

const machine = new Machine({ uidRange: defaultUidRange })
const python = findPythonWith(['sys'])
if (python === null) throw new Error('There is no Python.')
const program = planPythonZygote(python, { preload: [], readable: [] })
const zygote = await openZygote({ machine, clock: systemClock, program, limits: defaultLimits, guestsMax: 2 })
if (zygote === null) throw new Error('There is no zygote.')
await Promise.all([ParkedGuest.park(zygote), ParkedGuest.park(zygote)])
process.stdout.write('ready')
setInterval(() => undefined, 1000)
