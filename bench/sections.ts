/** The sections of the benchmark, in order. Each is loaded when it runs. */
import type { BenchOptions } from './options.ts'
import type { Table } from './table.ts'

export const sectionNames = [
  'cells',
  'cold',
  'warm',
  'throughput',
  'actor',
  'agent',
  'memory',
  'timeouts',
  'streaming',
  'functions',
  'sandboxes',
  'contexts',
  'snippets',
  'command',
  'isolates',
  'fairness',
  'http',
  'network',
] as const
export type SectionName = (typeof sectionNames)[number]

export async function runSection(name: SectionName, options: BenchOptions): Promise<Table[]> {
  switch (name) {
    case 'cells':
      return await (await import('./sections/cells.ts')).benchCells(options)
    case 'cold':
      return await (await import('./sections/cold.ts')).benchCold(options)
    case 'warm':
      return await (await import('./sections/warm.ts')).benchWarm(options)
    case 'throughput':
      return await (await import('./sections/throughput.ts')).benchThroughput(options)
    case 'actor':
      return await (await import('./sections/actor.ts')).benchActor(options)
    case 'agent':
      return await (await import('./sections/agent.ts')).benchAgent(options)
    case 'memory':
      return await (await import('./sections/parked-memory.ts')).benchMemory()
    case 'timeouts':
      return await (await import('./sections/timeouts.ts')).benchTimeouts(options)
    case 'streaming':
      return await (await import('./sections/streaming.ts')).benchStreaming(options)
    case 'functions':
      return await (await import('./sections/functions.ts')).benchFunctions(options)
    case 'sandboxes':
      return await (await import('./sections/sandboxes.ts')).benchSandboxes(options)
    case 'contexts':
      return await (await import('./sections/contexts.ts')).benchContexts(options)
    case 'snippets':
      return await (await import('./sections/snippets.ts')).benchSnippets(options)
    case 'command':
      return await (await import('./sections/command.ts')).benchCommand(options)
    case 'isolates':
      return await (await import('./sections/isolates/isolates.ts')).benchIsolates(options)
    case 'http':
      return await (await import('./sections/http.ts')).benchHttp(options)
    case 'fairness':
      return await (await import('./sections/fairness.ts')).benchFairness(options)
    case 'network':
      return await (await import('./sections/network.ts')).benchNetwork(options)
  }
}
