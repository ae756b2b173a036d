/** What the kernel must say of every guest in /proc/<pid>/status, whatever the level. Source: proc(5). */
export const promisesOfGuests = {
  CapPrm: '0000000000000000',
  CapEff: '0000000000000000',
  NoNewPrivs: '1',
  Seccomp: '2',
} as const
