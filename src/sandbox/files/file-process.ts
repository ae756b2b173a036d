/** One task of the file service (native/cell/files/service.c): a confined process of the cell. */
export interface FileProcess {
  /** Resolves when there is room for more. Resolves or rejects if the process is gone. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends its input. */
  end(): void
  readonly output: AsyncIterable<Uint8Array>
  readonly exit: Promise<FileExit>
  kill(): void
}

export interface FileExit {
  /** 0 when the task was done; 1 when `stderr` says why it was not. */
  readonly exitCode: number
  /** `errno step path`; the path is guest text. */
  readonly stderr: string
}

export type StartFileProcess = (task: string, args: readonly string[]) => FileProcess
