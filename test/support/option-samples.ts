/** A value other than the default for each option. The compiler requires one for each new option. */
import { systemClock } from '../../src/core/clock.ts'
import type { LazaretOptions } from '../../src/index.ts'

export const optionSamples: Required<LazaretOptions> = {
  minimumProtection: 'strong',
  defaults: { wallMs: 5, cpuMs: null },
  ceilings: { memoryBytes: 64 * 1024 * 1024 },
  toolchains: { python: '/usr/bin/env' },
  readable: [{ host: '/usr/share', guest: '/shown' }],
  packages: { python: ['/usr/lib'], node: '/usr/share' },
  environments: { folder: '/srv/environments', bytesMax: 1_073_741_824, packageHosts: ['example.com'] },
  pools: { python: { min: 1, max: 4 }, snippet: { max: 0 } },
  preload: ['statistics', 'os.path'],
  access: {
    networks: ['none', 'host'],
    preload: true,
    env: false,
    workspaces: ['/srv'],
    readable: ['/usr'],
  },
  queue: { runningMax: 3, memoryTotalBytes: 2 ** 30, waitingMax: 9, waitMs: 1000, heldBytesMax: 2 ** 26 },
  rate: { perMinute: 30 },
  breaker: { failureShareMax: 0.4, resultsMax: 50, resultsMin: 5, coolDownMs: 1000 },
  uidRange: { first: 100_000, count: 65_536 },
  allowUnenforced: ['memoryBytes'],
  audit: { file: '/srv/lazaret/audit.jsonl', onFailure: 'continue' },
  receipts: { privateKeyFile: '/srv/lazaret/key.pem' },
  admit: () => undefined,
  onEvent: () => undefined,
  clock: systemClock,
}
