/** What an environment is, as its callers see it. */

/** What to install. At least one package. */
export interface EnvironmentSpec {
  /** Requirements of pip, such as `pandas==2.*`. */
  readonly python?: readonly string[]
  /** Packages of npm, such as `zod` or `lodash@4`. */
  readonly npm?: readonly string[]
  /** Folders of the host with wheels and source archives of Python, beside the package sources. */
  readonly findLinks?: readonly string[]
  /** Tarballs of npm packages on the host, which are installed too. */
  readonly npmTarballs?: readonly string[]
  /** A cache of npm (`npm config get cache`) on the host, to install from without a network. */
  readonly npmCache?: string
  /** No network: packages come from `findLinks`, `npmTarballs` and `npmCache` alone. Default false. */
  readonly offline?: boolean
  /** npm packages whose install scripts may run, in a sandbox without a network. Default none. */
  readonly allowScripts?: readonly string[]
  /** Exact versions and hashes, as `inspect` shows them: what is not in it is not installed. */
  readonly lock?: EnvironmentLock
}

/** Exact versions of everything, as the installers write them down. */
export interface EnvironmentLock {
  /** A requirements file with hashes. */
  readonly python?: string
  /** A package-lock.json and the package.json that it belongs to. */
  readonly npm?: { readonly manifest: string; readonly lockFile: string }
}

export interface EnvironmentPackage {
  readonly name: string
  readonly version: string
}

/** A read-only set of packages that runs and sandboxes name. */
export interface Environment {
  readonly name: string
  /** SHA-256 of what is in it, in hexadecimal digits: the same files always have the same hash. */
  readonly hash: string
  /** When the name came to mean this, in ISO 8601. */
  readonly updatedAt: string
  /** The version of the Python that it is for, if it has packages for Python. */
  readonly pythonVersion: string | null
  readonly python: readonly EnvironmentPackage[]
  readonly npm: readonly EnvironmentPackage[]
  readonly files: number
  /** In files. */
  readonly bytes: number
  readonly lock: EnvironmentLock
  /** What was asked for but for the lock, which an update asks for again. */
  readonly spec: EnvironmentSpec
}

export interface EnvironmentProgress {
  readonly step: 'install-python' | 'install-npm' | 'run-scripts' | 'compile' | 'take-out'
  /** A line of an installer: guest text. Absent when a step begins. */
  readonly line?: string
}

export interface CreateOptions {
  /** Whether an environment of this name may exist already; it then means the new one. Default false. */
  readonly replace?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: EnvironmentProgress) => void
}

/** The environments of this machine's user. */
export interface EnvironmentsApi {
  /**
   * Installs packages in a sandbox, checks what came out, and gives it a name. A build that fails leaves nothing and
   * changes no name.
   *
   * @throws {LazaretError} INVALID_REQUEST; ENVIRONMENT_EXISTS; ENVIRONMENT_FAILED with the installer's last lines;
   * ACCESS_DENIED where the operator allows no network policies and one is needed; LIMIT_UNENFORCEABLE at level
   * `restricted`; what `sandbox()` throws.
   * @example
   * ```ts
   * await lazaret.environments.create('data', { python: ['pandas==2.*'], npm: ['zod'] })
   * await lazaret.run({ language: 'python', environment: 'data', code: 'import pandas' })
   * ```
   */
  create(name: string, spec: EnvironmentSpec, options?: CreateOptions): Promise<Environment>
  /** By name. */
  list(): Promise<readonly Environment[]>
  /** @throws {LazaretError} ENVIRONMENT_NOT_FOUND. */
  get(name: string): Promise<Environment>
  /**
   * Takes the name away, and removes the files unless another name means them.
   *
   * @throws {LazaretError} ENVIRONMENT_NOT_FOUND; ENVIRONMENT_IN_USE while a Lazaret of this machine uses it.
   */
  remove(name: string): Promise<void>
  /** Removes unnamed and unused environments, and leftovers of killed builds. Answers with the hashes. */
  prune(): Promise<readonly string[]>
}
