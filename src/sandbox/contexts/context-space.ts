/** The space of a code context and of its forks, which ends with the last of them. */
import type { Space } from '../../jail/cell/sandbox-cell.ts'

export class ContextSpace {
  readonly space: Space
  readonly #members = new Set<object>()
  readonly #holders = new Set<object>()

  constructor(space: Space) {
    this.space = space
  }

  enter(member: object): void {
    this.#members.add(member)
  }

  /** Whether other processes are in it. */
  isShared(member: object): boolean {
    return this.#members.size > (this.#members.has(member) ? 1 : 0)
  }

  /** Sets whether the space keeps the host process alive for this member. */
  hold(member: object, isHeld: boolean): void {
    if (isHeld) this.#holders.add(member)
    else this.#holders.delete(member)
    this.space.cell.hold(this.#holders.size > 0)
  }

  /** Resolves when the member is gone. While others continue, `over` tells that its processes have ended. */
  async leave(member: object, over: Promise<unknown>): Promise<void> {
    if (this.isShared(member)) await over
    this.#members.delete(member)
    this.hold(member, false)
    if (this.#members.size > 0) return
    this.space.cell.hold(true)
    await this.space.clean()
  }
}
