/**
 * The resources that cells have taken and not yet returned. Returning can fail, because the kernel keeps a cgroup while
 * anything is in it. Failures stay listed here and are tried again when the machine ends.
 */
export class Leases {
  readonly #unreturned = new Set<() => void>()

  /** `giveBack` may throw; the returned function calls it until it succeeds. */
  add(giveBack: () => void): () => void {
    const release = (): void => {
      if (!this.#unreturned.has(release)) return
      giveBack()
      this.#unreturned.delete(release)
    }
    this.#unreturned.add(release)
    return release
  }

  get unreturned(): readonly (() => void)[] {
    return [...this.#unreturned]
  }
}
