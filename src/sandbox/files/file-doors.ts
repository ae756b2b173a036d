/** File operations of a sandbox's caller. Each one counts as work. */
import type { FileInfo } from './file-info.ts'
import type { FileListing } from './file-listing.ts'
import type { DownloadTarOptions } from './tar/download-tar.ts'
import type { CopiedFolder, FolderOptions } from './folder-options.ts'
import type { ListFilesOptions, ReadFileOptions, SandboxFiles, WriteFileOptions } from './sandbox-files.ts'
import type { TarSource } from './tar/tar-source.ts'
import type { UploadedTar, UploadTarOptions } from './tar/upload-tar.ts'

export abstract class FileDoors {
  /** @internal */
  protected abstract readonly files: SandboxFiles

  /** Writes into the file that is there, like a shell's `>`: it keeps its mode. A new one gets 0644. */
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

  /** However long the file is. One that cannot be read rejects the first step. */
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

  /** False also for a link that leads nowhere. */
  exists(path: string): Promise<boolean> {
    return this.files.exists(path)
  }

  /** A link is deleted, not what it leads to. A folder only with `recursive`, and then with all that is in it. */
  deleteFile(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
    return this.files.deleteFile(path, options)
  }

  /** Renames as rename(2) does: an existing file is replaced, and an empty folder by a folder. */
  renameFile(from: string, to: string): Promise<void> {
    return this.files.renameFile(from, to)
  }

  /** Like `renameFile`; regular files also go to another file system, by a copy that is not atomic. */
  moveFile(from: string, to: string): Promise<void> {
    return this.files.moveFile(from, to)
  }

  /** Unpacks a tar, or one in gzip, as it comes. What was unpacked before a refused entry stays. */
  uploadTar(source: TarSource, options?: UploadTarOptions): Promise<UploadedTar> {
    return this.files.uploadTar(source, options)
  }

  /** A tar of what is in a folder, as it is read. */
  downloadTar(options?: DownloadTarOptions): AsyncIterable<Uint8Array> {
    return this.files.downloadTar(options)
  }

  /** Copies what is in a folder of the host. Links that lead out of it are left out. */
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
