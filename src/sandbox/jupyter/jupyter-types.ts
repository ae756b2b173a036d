/** Public types of a sandbox's Jupyter server. */

export interface JupyterOptions {
  /** The folder of new notebooks. Absolute; default /workspace. */
  readonly cwd?: string
  /**
   * Memory of the server and its kernels together, in addition to the sandbox's and at most as much. Default 512 MiB.
   */
  readonly limits?: { readonly memoryBytes?: number }
}

/** A running Jupyter server, and how clients on this machine reach it. */
export interface JupyterServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/`, for Jupyter clients on this machine. They also need `token`. */
  readonly url: string
  /** What every request must carry: `Authorization: token …`, `?token=…`, or the cookie that the first answer sets. */
  readonly token: string
  /** Resolves when the server and its kernels have ended and everything of them is removed. */
  close(): Promise<void>
}
