/** Lazaret: run untrusted code, each run in its own kernel jail. */
export { createLazaret } from './engine/lazaret.ts'
export type { CloseOptions, Lazaret, LazaretStats } from './engine/api.ts'
export type { WarmUpRequest } from './engine/warm-up.ts'
export type { PoolStats } from './pool/pool.ts'
export type { HeldKind, HeldStats } from './core/host-account.ts'
export type { PackageFolders } from './runtimes/packages/guest-packages.ts'
export type { Preload } from './core/preload.ts'
export type { PoolSize, PoolSizes } from './pool/shape.ts'
export type { AuditOptions, LazaretEvent, LazaretOptions, ReceiptOptions } from './engine/options/options.ts'
export type { OnAuditFailure } from './observe/audit-log.ts'
export type { Digest, Signature, SignedStatement, StatedValidation, Statement } from './core/receipt.ts'
export type { Access } from './policy/access.ts'
export type { BreakerOptions } from './policy/circuit-breaker.ts'
export type { RateOptions } from './policy/rate-limiter.ts'
export type { QueueOptions } from './policy/room-size.ts'
export type {
  FunctionCall,
  HostFunction,
  Language,
  OutputChunk,
  Realm,
  RunRequest,
  RunSpec,
  RuntimeName,
} from './core/request.ts'
export type {
  Network,
  NetworkKind,
  NetworkMode,
  NetworkPolicy,
  NetworkRefusal,
  NetworkReport,
  NetworkTotals,
  ReachedHost,
  RefusalReason,
} from './core/network.ts'
export type { EdgeSecret, EdgeSecrets, SecretPlace } from './core/secrets.ts'
export type { SignalName } from './sandbox/processes/signal-name.ts'
export type {
  CodeWork,
  CommandWork,
  ContextLanguage,
  ContextWork,
  FileOperation,
  FilesWork,
  PortWork,
  RunWork,
  SandboxWork,
  ValidationWork,
  WarmUpWork,
  Work,
  WorkKind,
} from './core/work.ts'
export type { WorkEnd } from './core/work-end.ts'
export type { Finding } from './core/validation.ts'
export type { Clamp, LimitMechanism, LimitName, Limits } from './core/limits.ts'
export type { MissingFiles, MissingReason } from './core/missing-files.ts'
export type { GuestError, Outcome } from './core/outcome.ts'
export type { DisplayFacts, LogEntry, MimeBundle } from './core/output.ts'
export type {
  FileDocument,
  ResultDocument,
  ResultImage,
  RunData,
  RunResult,
  ToTextOptions,
  Truncatable,
} from './core/result.ts'
export type { FoundBy, Interpreter, Receipt, StartKind, Usage } from './core/receipt.ts'
export type { Protection, ProtectionLevel } from './core/protection.ts'
export type { ProbeLayer, ProbeReport, ProbeToolchain } from './jail/machine/probe-report.ts'
export type { TerminalSize } from './jail/cell/guest-process.ts'
export { Unserializable } from './core/values/encode-leaf.ts'
export type { Sandbox } from './sandbox/sandbox.ts'
export type { SandboxLimits } from './sandbox/commands/command-receipt.ts'
export type {
  CodeContext,
  CodeContextOptions,
  CodeResult,
  ForkOptions,
  RunCodeOptions,
} from './sandbox/contexts/context-types.ts'
export type { ExecEvent } from './sandbox/commands/exec-stream.ts'
export type { JupyterOptions, JupyterServer } from './sandbox/jupyter/jupyter-types.ts'
export type { ExposedPort, ExposePortOptions } from './sandbox/ports/exposed-ports.ts'
export type { ProcessStatus, SandboxProcess, WaitOptions } from './sandbox/processes/processes.ts'
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
export type { DownloadTarOptions, SkippedFile } from './sandbox/files/tar/download-tar.ts'
export type { CopiedFolder, FolderOptions, FolderProgress } from './sandbox/files/folder-options.ts'
export type { FileInfo, FileType } from './sandbox/files/file-info.ts'
export type { FileEncoding } from './sandbox/files/file-options.ts'
export type { FileListing } from './sandbox/files/file-listing.ts'
export type { ListFilesOptions, ReadFileOptions, WriteFileOptions } from './sandbox/files/sandbox-files.ts'
export type { TarSource } from './sandbox/files/tar/tar-source.ts'
export type { UploadTarOptions, UploadedTar } from './sandbox/files/tar/upload-tar.ts'
export { LazaretError } from './core/errors/errors.ts'
export type { ErrorCode } from './core/errors/errors.ts'
