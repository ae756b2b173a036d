/** Whether a path in a program's text leads out of the workspace. Pure; `analyze.py` has the same for Python. */

const harmless = new Set(['/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr'])
const ownFolders = new Set(['workspace', 'tmp'])

export function isOutside(asked: string): boolean {
  const path = asked.replace(/^file:\/\//, '')
  if (harmless.has(path)) return false
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length === 0) return true
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  if (path.startsWith('/')) return !ownFolders.has(parts[0] ?? '')
  return path.startsWith('~')
}
