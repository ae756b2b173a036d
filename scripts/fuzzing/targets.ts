/** The fuzz targets of the launcher: `native/fuzz/target-<name>.c`, one for each place where bytes arrive. */
export interface Target {
  readonly name: string
  /** Files of the launcher that the target includes itself, to reset their state between two inputs. */
  readonly includes: readonly string[]
  /** The longest input, in bytes, that a run explores. */
  readonly inputBytesMax: number
}

export const targets: readonly Target[] = [
  { name: 'plan', includes: ['main', 'nursery/nursery'], inputBytesMax: 16_384 },
  {
    name: 'control',
    includes: ['serve/serve', 'outbox', 'watch/survey', 'watch/watchdog'],
    inputBytesMax: 8192,
  },
  {
    name: 'nursery',
    includes: ['nursery/connections', 'nursery/launchers', 'nursery/nursery'],
    inputBytesMax: 8192,
  },
  { name: 'confine', includes: ['filters'], inputBytesMax: 8192 },
  { name: 'collect', includes: ['files/collect'], inputBytesMax: 8192 },
  { name: 'files', includes: [], inputBytesMax: 16_384 },
  {
    name: 'proc',
    includes: ['watch/memory/memory', 'watch/processor', 'outbox', 'watch/memory/sockets'],
    inputBytesMax: 8192,
  },
  { name: 'relay', includes: [], inputBytesMax: 8192 },
]

/** For targets without main.c, whose `main` would be unused. */
export function sourcesOf(target: Target, all: readonly string[]): string[] {
  return all.filter((name) => name !== 'main' && !target.includes.includes(name))
}
