import { HostBudget } from '../../src/runtimes/channel/host-budget.ts'

/** Its clock stands still: nothing costs anything, so that everything is done at once. */
export const freeBudget = (): HostBudget => new HostBudget({ now: () => 0 }, 1)
