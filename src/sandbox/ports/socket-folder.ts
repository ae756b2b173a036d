/** A folder for a Unix socket that only this user can reach: nobody else may search it, whatever the umask was. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export class SocketFolder implements AsyncDisposable {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  static async make(): Promise<SocketFolder> {
    return new SocketFolder(await mkdtemp(join(tmpdir(), 'lazaret-port-')))
  }

  get socket(): string {
    return join(this.#path, 'socket')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { recursive: true, force: true })
  }
}
