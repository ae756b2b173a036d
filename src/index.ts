/** Lazaret: run code that nobody has read, behind a kernel wall of its own. */
export { createLazaret } from './engine/lazaret.ts'
export type { Lazaret, LazaretStats } from './engine/api.ts'
export type { WarmUpRequest } from './engine/warm-up.ts'
export type { PoolStats } from './pool/pool.ts'
export type { PoolSize, PoolSizes } from './pool/shape.ts'
export type { AuditOptions, LazaretEvent, LazaretOptions, ReceiptOptions } from './engine/options.ts'
export type { OnAuditFailure } from './observe/audit-log.ts'
export type { Digest, Signature, SignedStatement, Statement } from './core/receipt.ts'
export type { Access } from './policy/access.ts'
export type { BreakerOptions } from './policy/circuit-breaker.ts'
export type { RateOptions } from './policy/rate-limiter.ts'
export type { QueueOptions } from './policy/room-size.ts'
export type {
  FunctionCall,
  HostFunction,
  Language,
  NetworkMode,
  OutputChunk,
  Realm,
  RunRequest,
  RunSpec,
  RuntimeName,
} from './core/request.ts'
export type {
  CommandWork,
  FileOperation,
  FilesWork,
  RunWork,
  SandboxWork,
  WarmUpWork,
  Work,
  WorkKind,
} from './core/work.ts'
export type { WorkEnd } from './core/work-end.ts'
export type { LimitMechanism, LimitName, Limits } from './core/limits.ts'
export type { GuestError, Outcome } from './core/outcome.ts'
export type { LogEntry, MimeBundle, RunResult, Truncatable } from './core/result.ts'
export type { Receipt, StartKind, Usage } from './core/receipt.ts'
export type { Protection, ProtectionLevel } from './core/protection.ts'
export type { ProbeLayer, ProbeReport, ProbeToolchain } from './jail/probe-report.ts'
export type { TerminalSize } from './jail/guest-process.ts'
export { Unserializable } from './core/encode-leaf.ts'
export type { Sandbox } from './sandbox/sandbox.ts'
export type { ExecEvent } from './sandbox/exec-stream.ts'
export type { ProcessStatus, SandboxProcess, WaitOptions } from './sandbox/processes.ts'
export type {
  ExecOptions,
  ExecResult,
  Isolation,
  ProcessOptions,
  SandboxOptions,
  SandboxSession,
  SessionOptions,
  Variables,
} from './sandbox/types.ts'
export type { DownloadTarOptions, SkippedFile } from './sandbox/files/download-tar.ts'
export type { FileInfo, FileType } from './sandbox/files/file-info.ts'
export type { FileEncoding } from './sandbox/files/file-options.ts'
export type { FileListing } from './sandbox/files/file-listing.ts'
export type { ListFilesOptions, ReadFileOptions, WriteFileOptions } from './sandbox/files/sandbox-files.ts'
export type { TarSource } from './sandbox/files/tar-source.ts'
export type { UploadTarOptions, UploadedTar } from './sandbox/files/upload-tar.ts'
export { LazaretError } from './core/errors.ts'
export type { ErrorCode } from './core/errors.ts'
