/** Public types of environments. */

/** What to install. At least one package. */
export interface EnvironmentSpec {
  /** pip requirements, such as `pandas==2.*`. */
  readonly python?: readonly string[]
  /** npm packages, such as `zod` or `lodash@4`. */
  readonly npm?: readonly string[]
  /** Folders of the host with wheels and source archives of Python, in addition to the package sources. */
  readonly findLinks?: readonly string[]
  /** Tarballs of npm packages on the host, to install too. */
  readonly npmTarballs?: readonly string[]
  /** An npm cache (`npm config get cache`) on the host, to install from without a network. */
  readonly npmCache?: string
  /** No network: packages come from `findLinks`, `npmTarballs` and `npmCache` alone. Default false. */
  readonly offline?: boolean
  /** npm packages whose install scripts may run, in a sandbox without a network. Default none. */
  readonly allowScripts?: readonly string[]
  /** Exact versions and hashes, as `inspect` shows them. Nothing else is installed. */
  readonly lock?: EnvironmentLock
}

/** Exact versions of all packages, in the installers' own formats. */
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

/** A read-only set of packages that runs and sandboxes use by name. */
export interface Environment {
  readonly name: string
  /**
   * SHA-256 of its packages, its lock and its files, in hexadecimal digits: the same packages and files always have the
   * same hash.
   */
  readonly hash: string
  /** When the name was last set, in ISO 8601. */
  readonly updatedAt: string
  /** The Python version that it was built for, if it has Python packages. */
  readonly pythonVersion: string | null
  readonly python: readonly EnvironmentPackage[]
  readonly npm: readonly EnvironmentPackage[]
  readonly files: number
  /** Total size of its files. */
  readonly bytes: number
  readonly lock: EnvironmentLock
  /** The original request without its lock; an update repeats it. */
  readonly spec: EnvironmentSpec
}

export interface EnvironmentProgress {
  readonly step:
    | 'fetch-python'
    | 'build-python'
    | 'install-python'
    | 'install-npm'
    | 'run-scripts'
    | 'compile'
    | 'take-out'
  /** A line of an installer: guest text. Absent when a step begins. */
  readonly line?: string
}

export interface CreateOptions {
  /** Whether to replace an existing environment of this name. Default false. */
  readonly replace?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: EnvironmentProgress) => void
}

/** The environments of this machine's user. */
export interface EnvironmentsApi {
  /**
   * Installs packages in a sandbox, checks the installed files, and gives them a name. A build that fails leaves
   * nothing and changes no name.
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
   * Removes the name, and the files unless another name refers to them.
   *
   * @throws {LazaretError} ENVIRONMENT_NOT_FOUND; ENVIRONMENT_IN_USE while a Lazaret on this machine uses it.
   */
  remove(name: string): Promise<void>
  /** Removes unnamed, unused environments and leftovers of killed builds. Resolves to the hashes of the former. */
  prune(): Promise<readonly string[]>
}
