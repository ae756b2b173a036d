/** Applies the table of layers (layer-rows.ts) to one plan, one receipt and one machine. Pure. */
import type { PlanRecord } from '../plan/plan-records.ts'
import type { ProbeLayer } from '../machine/probe-report.ts'
import { layerRows } from './layer-rows.ts'
import type { LayerRow, Outline, Seen } from './layer-rows.ts'

/** Names of the layers that these records build; `around` are those of the cell that a space lies in. */
export function layersOf(records: readonly PlanRecord[], around: readonly string[] = []): string[] {
  const outline = outlineOf(records)
  const stands = ({ name, isBuiltBy, isInherited }: LayerRow) =>
    isBuiltBy(outline) || (isInherited === true && around.includes(name))
  return layerRows.filter(stands).map(({ name }) => name)
}

export function outlineOf(records: readonly PlanRecord[]): Outline {
  let namespaces = 0
  for (const record of records) {
    if (record.do === 'clone' || record.do === 'unshare') namespaces |= record.flags
  }
  return { records, kinds: new Set(records.map((record) => record.do)), namespaces }
}

/** What the kernel must report in /proc/<pid>/status about every guest behind these layers. */
export function promisesOf(layers: readonly string[]): Record<string, string> {
  const rows = layerRows.filter(({ name }) => layers.includes(name))
  return Object.assign({}, ...rows.map(({ promises }) => promises)) as Record<string, string>
}

/** Everything that some layer promises: the receipt shows it. */
export const promisedNames = Object.keys(promisesOf(layerRows.map(({ name }) => name)))

/** As the receipt names them, with what pid 1 reported. */
export function namesOfStanding(
  layers: readonly string[],
  facts: Readonly<Record<string, string>>,
): readonly string[] {
  return layers.map((layer) => layerRows.find(({ name }) => name === layer)?.nameFrom?.(facts) ?? layer)
}

/** For `doctor`, in the order of the table. */
export function describeLayers(seen: Seen): ProbeLayer[] {
  return layerRows.flatMap(({ describe }) => (describe === undefined ? [] : [describe(seen)]))
}
