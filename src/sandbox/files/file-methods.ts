/** File operations of a sandbox's caller. Each one counts as work. */
import type { FileInfo } from './file-info.ts'
import type { FileListing } from './file-listing.ts'
import type { DownloadTarOptions } from './tar/download-tar.ts'
import type { CopiedFolder, FolderOptions } from './folder-options.ts'
import type { ListFilesOptions, ReadFileOptions, SandboxFiles, WriteFileOptions } from './sandbox-files.ts'
import type { TarSource } from './tar/tar-source.ts'
import type { UploadedTar, UploadTarOptions } from './tar/upload-tar.ts'

export abstract class FileMethods {
  /** @internal */
  protected abstract readonly files: SandboxFiles

  /** Overwrites an existing file, like a shell's `>`, so it keeps its mode. A new file gets 0644. */
  writeFile(path: string, content: string | Uint8Array, options?: WriteFileOptions): Promise<void> {
    return this.files.writeFile(path, content, options)
  }

  readFile(
    path: string,
    options?: ReadFileOptions & { readonly encoding?: 'utf8' | 'base64' },
  ): Promise<string>
  readFile(path: string, options: ReadFileOptions & { readonly encoding: 'bytes' }): Promise<Uint8Array>
  readFile(path: string, options?: ReadFileOptions): Promise<string | Uint8Array> {
    return this.files.readFile(path, options)
  }

  /** Streams a file of any length. If it cannot be read, the first step rejects. */
  readFileStream(path: string): AsyncIterable<Uint8Array> {
    return this.files.readFileStream(path)
  }

  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.files.mkdir(path, options)
  }

  listFiles(path?: string, options?: ListFilesOptions): Promise<FileListing> {
    return this.files.listFiles(path, options)
  }

  /** Follows a link, unless `followLinks` is false. */
  stat(path: string, options?: { readonly followLinks?: boolean }): Promise<FileInfo> {
    return this.files.stat(path, options)
  }

  /** Also false for a dangling link. */
  exists(path: string): Promise<boolean> {
    return this.files.exists(path)
  }

  /** Deletes a link, not its target. Deletes a folder, with its contents, only with `recursive`. */
  deleteFile(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.files.deleteFile(path, options)
  }

  /** Renames as rename(2) does: a file replaces an existing file, and a folder an empty folder. */
  renameFile(from: string, to: string): Promise<void> {
    return this.files.renameFile(from, to)
  }

  /** Like `renameFile`, but copies regular files to another file system, which is not atomic. */
  moveFile(from: string, to: string): Promise<void> {
    return this.files.moveFile(from, to)
  }

  /** Unpacks a tar, plain or gzipped, as it arrives. Entries before a refused one stay. */
  uploadTar(source: TarSource, options?: UploadTarOptions): Promise<UploadedTar> {
    return this.files.uploadTar(source, options)
  }

  /** Streams a folder's contents as a tar. */
  downloadTar(options?: DownloadTarOptions): AsyncIterable<Uint8Array> {
    return this.files.downloadTar(options)
  }

  /** Copies the contents of a folder of the host. Links that lead out of it are left out. */
  uploadFolder(from: string, options?: FolderOptions): Promise<CopiedFolder> {
    return this.files.uploadFolder(from, options)
  }

  /**
   * Copies into a folder of the host, which is created if it is missing. Links are left out, and none on the host is
   * followed.
   */
  downloadFolder(to: string, options?: FolderOptions): Promise<CopiedFolder> {
    return this.files.downloadFolder(to, options)
  }
}
