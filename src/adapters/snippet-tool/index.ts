/** `lazaret/snippet`: small deterministic programs without a jail. */
export { endSnippetThreads, runSnippet, warmUpSnippets } from './run-snippet.ts'
export type { SnippetOptions } from './run-snippet.ts'
export { snippetTool } from './snippet-tool.ts'
export type { SnippetSchema, SnippetTool } from './snippet-tool.ts'
export type {
  SnippetError,
  SnippetErrorCode,
  SnippetLimits,
  SnippetRequest,
  SnippetResult,
} from './snippet-types.ts'
