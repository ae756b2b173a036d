/** On which mount a file lies: proc_pid_mountinfo(5). */
import { readFileSync } from 'node:fs'

export interface Mount {
  readonly point: string
  /** Of the mount itself, such as `ro` and `noexec`; not of its file system. */
  readonly options: readonly string[]
}

/** Of all mount points that the path starts with, the longest and last. `path` is absolute and has no links. */
export function mountOf(path: string): Mount | undefined {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, , , , point = '', options = '']) => ({ point: decode(point), options: options.split(',') }))
    .filter(({ point }) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`))
    .toSorted((a, b) => a.point.length - b.point.length)
    .at(-1)
}

/** Spaces and similar characters are octal. */
function decode(point: string): string {
  return point.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)))
}
