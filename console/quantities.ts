/** Times and sizes in readable units. */

export function sayTime(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`
}

const units = ['B', 'KiB', 'MiB', 'GiB'] as const

export function sayBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const count = bytes / 1024 ** step
  return `${step === 0 || count >= 100 ? Math.round(count) : Number(count.toFixed(1))} ${units[step]}`
}
