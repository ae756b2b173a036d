/** Cold rows: a fresh cell for each turn, with nothing prepared. */
import { compare, timed } from '../measure/compare.ts'
import type { Rival } from '../measure/compare.ts'
import type { BenchOptions } from '../options.ts'
import { runPlain } from '../rivals/plain.ts'
import { skippedTable } from '../table.ts'
import type { Table } from '../table.ts'
import { createCold } from '../warm-lazaret.ts'
import { faultOf, Workloads } from '../workloads.ts'

export async function benchCold({ turns }: BenchOptions): Promise<Table[]> {
  using workloads = new Workloads()
  await using lazaret = createCold()
  const tables: Table[] = []
  for (const { runtime, request, command, expected } of [...workloads.all(), workloads.typescript()]) {
    const name = request.language === 'typescript' ? 'typescript on bun' : runtime
    const turn = timed(async () => {
      const fault = faultOf(await lazaret.run(request), expected)
      if (fault !== undefined) throw new Error(`A turn of ${name}, cold, ${fault}.`)
    })
    if (command === null) {
      tables.push(skippedTable(`${name}, cold`, `there is no ${runtime} on this machine.`))
      continue
    }
    const [file, ...args] = command
    const rivals: Rival[] = [
      { name: `lazaret ${runtime}, cold`, turn },
      { name: `Node spawn of ${runtime}, no wall`, turn: timed(() => runPlain(file, args)) },
    ]
    tables.push(await compare({ title: `${name}, cold: a trivial program`, turns, rivals }))
  }
  return tables
}
