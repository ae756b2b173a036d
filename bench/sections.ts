/** The sections of the benchmark, in their order; each is loaded when it is run. */
import type { BenchOptions } from './options.ts'
import type { Table } from './table.ts'

export const sectionNames = [
  'cells',
  'cold',
  'warm',
  'throughput',
  'actor',
  'memory',
  'timeouts',
  'streaming',
  'functions',
  'sandboxes',
  'snippets',
  'isolates',
  'fairness',
] as const
export type SectionName = (typeof sectionNames)[number]

export async function runSection(name: SectionName, options: BenchOptions): Promise<Table[]> {
  switch (name) {
    case 'cells':
      return await (await import('./cells.ts')).benchCells(options)
    case 'cold':
      return await (await import('./cold.ts')).benchCold(options)
    case 'warm':
      return await (await import('./warm.ts')).benchWarm(options)
    case 'throughput':
      return await (await import('./throughput.ts')).benchThroughput(options)
    case 'actor':
      return await (await import('./actor.ts')).benchActor(options)
    case 'memory':
      return await (await import('./parked-memory.ts')).benchMemory()
    case 'timeouts':
      return await (await import('./timeouts.ts')).benchTimeouts(options)
    case 'streaming':
      return await (await import('./streaming.ts')).benchStreaming(options)
    case 'functions':
      return await (await import('./functions.ts')).benchFunctions(options)
    case 'sandboxes':
      return await (await import('./sandboxes.ts')).benchSandboxes(options)
    case 'snippets':
      return await (await import('./snippets.ts')).benchSnippets(options)
    case 'isolates':
      return await (await import('./isolates.ts')).benchIsolates(options)
    case 'fairness':
      return await (await import('./fairness.ts')).benchFairness(options)
  }
}
