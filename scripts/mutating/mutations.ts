/** The defects. A file that changes so that a text is no longer in it needs another one here. */
import type { Mutation } from './mutation.ts'

export const mutations: readonly Mutation[] = [
  {
    name: 'oom-is-killed',
    defect: 'A program that the kernel killed for memory is reported as killed.',
    kind: 'outcome',
    file: 'src/result/settle.ts',
    find: '  if (oomKills > 0) return true\n',
    replace: '  if (oomKills > 1) return true\n',
    caughtBy: ['test/result/settle.test.ts'],
  },
  {
    name: 'ticket-is-kept',
    defect: 'A run never gives its ticket back, so its slot and its memory stay taken.',
    kind: 'leak',
    file: 'src/policy/governor.ts',
    find: '        if (!isKept) await giveBack()\n',
    replace: '        if (!isKept && isOver === undefined) await giveBack()\n',
    caughtBy: ['test/policy/governor.test.ts'],
  },
  {
    name: 'no-seccomp',
    defect: 'The launcher starts guests without the system call filter.',
    kind: 'layer',
    file: 'native/cell/serve/guest.c',
    find: 'return restrict_with_seccomp() ? NULL : "apply seccomp";',
    replace: 'return cell.filter ? NULL : "apply seccomp";',
    caughtBy: ['test/escape/kernel/forbidden-syscalls.test.ts'],
  },
  {
    name: 'queue-without-bound',
    defect: 'The queue of runs takes any number of requests.',
    kind: 'limit',
    file: 'src/policy/room.ts',
    find: '    if (this.#waiting.length < waitingMax) return\n',
    replace: '    if (this.#waiting.length < waitingMax || waitingMax > 0) return\n',
    caughtBy: ['test/policy/room.test.ts'],
  },
  {
    name: 'root-is-writable',
    defect: 'The root of a cell is not made read-only.',
    kind: 'layer',
    file: 'src/jail/plan/mounts.ts',
    find: "attributes: readOnly | noSuid | noDevices },\n    { do: 'root-guard'",
    replace: "attributes: noSuid | noDevices },\n    { do: 'root-guard'",
    caughtBy: ['test/jail/plan/mounts.test.ts'],
  },
]
