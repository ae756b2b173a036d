/** Which machines `npm run machines` boots, and how it starts Lazaret on each. Data only. */

/** A system that can be booted. */
export interface System {
  /** A suite of Debian. */
  readonly suite: string
  readonly kernel: string
}

export const systems = {
  bookworm: { suite: 'bookworm', kernel: 'linux-image-cloud-amd64' },
} as const satisfies Readonly<Record<string, System>>

/** One way to use a system. */
export interface Cell {
  readonly system: keyof typeof systems
  readonly user: 'root' | 'user'
  /** What starts the command, as over ssh. */
  readonly wrapper: string
  readonly level: 'strong' | 'standard' | 'restricted'
  /** What `doctor` says about where the cgroups are; undefined if there are none. */
  readonly cgroups: RegExp | undefined
}

const inScope = /in a scope of their own from systemd/
const inOwnGroup = /inside the cgroup of this process/

export const cells: Readonly<Record<string, Cell>> = {
  'bookworm-root': { system: 'bookworm', user: 'root', wrapper: '', level: 'strong', cgroups: inScope },
  'bookworm-root-unit': {
    system: 'bookworm',
    user: 'root',
    wrapper: "systemd-run --quiet --wait --pipe --collect -p 'Delegate=memory pids cpu'",
    level: 'strong',
    cgroups: inOwnGroup,
  },
  'bookworm-user': { system: 'bookworm', user: 'user', wrapper: '', level: 'standard', cgroups: inScope },
  'bookworm-user-scope': {
    system: 'bookworm',
    user: 'user',
    wrapper: "systemd-run --quiet --user --scope -p 'Delegate=memory pids cpu'",
    level: 'standard',
    cgroups: inOwnGroup,
  },
}
