/** Reads programs from stdin, runs them, and prints their results in the same order. */
import { text } from 'node:stream/consumers'

import { endSnippetThreads, runSnippet } from '../../../src/adapters/snippet-tool/index.ts'

/** Far more than any of them needs, because a timeout would differ between machines. */
const limits = { wall_ms: 60_000, output_kb: 16 }

const programs: readonly string[] = JSON.parse(await text(process.stdin))
const results = await Promise.all(
  programs.map((source) => runSnippet({ source, limits, input: source.slice(0, 9) })),
)
process.stdout.write(JSON.stringify(results))
await endSnippetThreads()
