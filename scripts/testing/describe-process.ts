/** What a process seems to wait for, as /proc shows it from outside: its threads and its descendants. */
import { readdirSync, readFileSync } from 'node:fs'

const threadsShownMax = 20
const childrenShownMax = 20
const commandChars = 120

export function describeProcess(pid: number): string {
  const threads = list(`/proc/${pid}/task`).slice(0, threadsShownMax)
  const children = descendantsOf(pid).slice(0, childrenShownMax)
  return [
    ...threads.map((id) => `    thread ${describe(`/proc/${pid}/task/${id}`, id)}`),
    ...children.map((id) => `    child ${describe(`/proc/${id}`, String(id))} ${commandOf(id)}`),
  ].join('\n')
}

/** Name, state, the system call that it is in, and where in the kernel it waits (only root may read that stack). */
function describe(folder: string, id: string): string {
  const status = read(`${folder}/status`)
  const [name = '?', state = '?'] = ['Name', 'State'].map(
    (key) => new RegExp(`^${key}:\\s*(.*)$`, 'm').exec(status)?.[1],
  )
  const [call = '?'] = read(`${folder}/syscall`).split(' ')
  const stack = read(`${folder}/stack`)
    .split('\n')
    .map((line) => /\] ([\w.]+)/.exec(line)?.[1])
    .filter((one) => one !== undefined)
    .slice(0, 4)
  return `${id} ${JSON.stringify(name)}, ${state}, system call ${call.trim()}, in ${stack.join(' < ') || '?'}`
}

function commandOf(pid: number): string {
  const words = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
  return JSON.stringify(words.slice(0, commandChars))
}

function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of list('/proc').filter((one) => /^\d+$/.test(one))) {
    const stat = read(`/proc/${name}/stat`)
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const found = new Set([pid])
  // The loop also visits what is added to the set meanwhile.
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.add(child)
  return [...found].slice(1)
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // it has ended
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has ended, or belongs to somebody else
  }
}
