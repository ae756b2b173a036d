/** What follows from the table of layers (layer-rows.ts) for one plan, one receipt and one machine. Pure. */
import type { PlanRecord } from '../plan-records.ts'
import type { ProbeLayer } from '../probe-report.ts'
import { layerRows } from './layer-rows.ts'
import type { LayerRow, Seen } from './layer-rows.ts'

/** Names of the layers that these records build; `around` are those of the cell that a space lies in. */
export function layersOf(records: readonly PlanRecord[], around: readonly string[] = []): string[] {
  const stands = ({ name, isBuiltBy, isInherited }: LayerRow) =>
    isBuiltBy(records) || (isInherited === true && around.includes(name))
  return layerRows.filter(stands).map(({ name }) => name)
}

/** What the kernel must say of every guest behind these layers in /proc/<pid>/status. */
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
