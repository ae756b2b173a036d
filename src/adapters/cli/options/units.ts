/**
 * Durations and sizes as people write them: `500ms`, `2m`, `64MiB`. A bare number is refused, because it has no unit.
 */
import { InvalidArgumentError } from 'commander'

const KiB = 1024

/** Decimal units are powers of ten. A single letter is a power of two, as in Docker and systemd. */
const bytesByUnit: Readonly<Record<string, number>> = {
  b: 1,
  k: KiB,
  m: KiB ** 2,
  g: KiB ** 3,
  kib: KiB,
  mib: KiB ** 2,
  gib: KiB ** 3,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
}

const millisecondsByUnit: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** The longest delay that a timer of the host can hold, about 24 days. */
const durationMsMax = 2 ** 31 - 1

/** `500ms`, `1.5s`, `2m` or `1h` as milliseconds. */
export function parseDuration(text: string): number {
  const milliseconds = parseQuantity(text, millisecondsByUnit)
  if (milliseconds === undefined)
    throw new InvalidArgumentError('Write a duration such as 500ms, 5s, 2m or 1h.')
  if (milliseconds > durationMsMax) throw new InvalidArgumentError('The longest duration is 24 days.')
  return milliseconds
}

/** `64MiB`, `1.5GiB`, `100kB` or `64m` as bytes. */
export function parseSize(text: string): number {
  const bytes = parseQuantity(text, bytesByUnit)
  if (bytes === undefined) throw new InvalidArgumentError('Write a size such as 512KiB, 64MiB or 1GiB.')
  if (bytes > Number.MAX_SAFE_INTEGER) throw new InvalidArgumentError('The size is too large.')
  return bytes
}

/** A whole number, 1 or more. */
export function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError('Write a whole number, 1 or more.')
  }
  return count
}

function parseQuantity(text: string, factors: Readonly<Record<string, number>>): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim())
  const unit = match?.[2]?.toLowerCase()
  if (match === null || unit === undefined || !Object.hasOwn(factors, unit)) return undefined
  const quantity = Math.round(Number(match[1]) * (factors[unit] ?? 0))
  return quantity >= 1 ? quantity : undefined
}

/** The inverse of `parseDuration`, in the largest unit that keeps the number exact or short: `1 s`, `1.5 s`, `250 ms`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${shorten(milliseconds)} ms`
  if (milliseconds < 60_000 || milliseconds % 60_000 !== 0) return `${shorten(milliseconds / 1_000)} s`
  return `${milliseconds / 60_000} min`
}

/** `64 MiB`, `1.5 GiB`, `800 B`. */
export function formatSize(bytes: number): string {
  if (bytes < KiB) return `${bytes} B`
  if (bytes < KiB ** 2) return `${shorten(bytes / KiB)} KiB`
  if (bytes < KiB ** 3) return `${shorten(bytes / KiB ** 2)} MiB`
  return `${shorten(bytes / KiB ** 3)} GiB`
}

/** At most one digit after the point, and none where it would be 0. */
function shorten(value: number): string {
  return String(Math.round(value * 10) / 10)
}
