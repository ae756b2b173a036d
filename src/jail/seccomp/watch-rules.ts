/**
 * Watches that reveal reads: IN_ACCESS, IN_CLOSE_NOWRITE and IN_OPEN on a folder that several cells share tell each of
 * them which programs and packages the others use. A filter cannot read the path, so they are refused everywhere. Node,
 * Bun, OpenJDK, cargo and the like ask for changes only.
 */
import { call } from './lists/allow-list.ts'
import type { SyscallRule } from './syscall-rule.ts'

const whoReads = 0x01 | 0x10 | 0x20

export const watchRules: readonly SyscallRule[] = [
  {
    ...call('inotify_add_watch', 254, 27),
    action: 'EPERM',
    tests: [{ argument: 2, mask: whoReads, isNoneOf: [0] }],
    reason: 'Tells which files of shared folders other cells and the host execute and read.',
  },
]
