/**
 * The resources that cells have taken and not yet returned. Returning can fail, because the kernel keeps a cgroup while
 * anything is in it. Failures stay listed here, and are tried again as further resources are taken, and when the machine
 * ends.
 */
export class Leases {
  readonly #unreturned = new Set<() => void>()
  readonly #failed = new Set<() => void>()

  /** `giveBack` may throw; the returned function calls it until it succeeds. */
  add(giveBack: () => void): () => void {
    this.#tryOneAgain()
    const release = (): void => {
      if (!this.#unreturned.has(release)) return
      this.#failed.add(release)
      giveBack()
      this.#failed.delete(release)
      this.#unreturned.delete(release)
    }
    this.#unreturned.add(release)
    return release
  }

  get unreturned(): readonly (() => void)[] {
    return [...this.#unreturned]
  }

  /** Whoever took it gave up after half a second. One at a time, so that many failures do not make each run slow. */
  #tryOneAgain(): void {
    const [oldest] = this.#failed
    if (oldest === undefined) return
    this.#failed.delete(oldest)
    try {
      oldest()
    } catch {
      // It is last in the list now, and reported when the machine ends.
    }
  }
}
