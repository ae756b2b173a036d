/**
 * The resources that cells have taken and not yet given back. Giving back can fail, because the kernel keeps a cgroup as
 * long as anything is in it. What failed stays listed here, and is tried again when the machine ends.
 */
export class Leases {
  readonly #unreturned = new Set<() => void>()

  /** `giveBack` may throw; what is returned calls it until it has not. */
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
