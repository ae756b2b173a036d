/** Runs the programs that it reads, in their order, and prints their results. */
import { text } from 'node:stream/consumers'

import { endSnippetThreads, runSnippet } from '../../../src/adapters/snippet-tool/index.ts'

/** Far beyond what any of them takes: when time runs out no two machines agree. */
const limits = { wall_ms: 60_000, output_kb: 16 }

const programs: readonly string[] = JSON.parse(await text(process.stdin))
const results = await Promise.all(
  programs.map((source) => runSnippet({ source, limits, input: source.slice(0, 9) })),
)
process.stdout.write(JSON.stringify(results))
await endSnippetThreads()
