import { HostBudget } from '../../src/runtimes/channel/host-budget.ts'

/** A budget whose clock stands still: all work costs nothing, so it is done at once. */
export const freeBudget = (): HostBudget => new HostBudget({ now: () => 0 }, 1)
