/** What a Jupyter server of a sandbox takes and gives: the words of its public API. */

export interface JupyterOptions {
  /** Where notebooks begin. Absolute; default /workspace. */
  readonly cwd?: string
  /** Memory of the server with all of its kernels, not part of the sandbox's and at most as much. Default 512 MiB. */
  readonly limits?: { readonly memoryBytes?: number }
}

/** A Jupyter server that stands, and the way to it from this machine. */
export interface JupyterServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/`, for clients of Jupyter's on this machine, together with `token`. */
  readonly url: string
  /** What every request must carry: `Authorization: token …`, `?token=…`, or the cookie that the first answer sets. */
  readonly token: string
  /** Resolves when nothing of it is left, kernels included. */
  close(): Promise<void>
}
