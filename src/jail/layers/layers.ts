/** Applies the table of layers (layer-rows.ts) to one plan, one receipt and one machine. Pure. */
import { Remembered } from '../machine/remembered.ts'
import type { PlanRecord } from '../plan/plan-records.ts'
import type { ProbeLayer } from '../machine/probe-report.ts'
import { layerRows } from './layer-rows.ts'
import type { LayerRow, Outline, Seen } from './layer-rows.ts'

const remembered = new Remembered<readonly string[]>()

/** Names of the layers that these records build; `around` are those of the cell that a space lies in. */
export function layersOf(records: readonly PlanRecord[], around: readonly string[] = []): readonly string[] {
  const outline = outlineOf(records)
  const stands = ({ name, isBuiltBy, isInherited }: LayerRow) =>
    isBuiltBy(outline) || (isInherited === true && around.includes(name))
  const { kinds, ...rest } = outline
  return remembered.get([...kinds, rest, around], () => layerRows.filter(stands).map(({ name }) => name))
}

export function outlineOf(records: readonly PlanRecord[]): Outline {
  const kinds = new Set<PlanRecord['do']>()
  let namespaces = 0
  let showsHostInodes = false
  for (const record of records) {
    kinds.add(record.do)
    if (record.do === 'clone' || record.do === 'unshare') namespaces |= record.flags
    else if (record.do === 'open-tree' && !record.path.startsWith('/dev/')) showsHostInodes = true
  }
  return { kinds, namespaces, showsHostInodes }
}

/** By the list that `layersOf` returns each time for the same layers. */
const promised = new WeakMap<readonly string[], Readonly<Record<string, string>>>()

/** What the kernel must report in /proc/<pid>/status about every guest behind these layers. */
export function promisesOf(layers: readonly string[]): Readonly<Record<string, string>> {
  const known = promised.get(layers)
  if (known !== undefined) return known
  const rows = layerRows.filter(({ name }) => layers.includes(name))
  const promises = Object.assign({}, ...rows.map((row) => row.promises)) as Record<string, string>
  promised.set(layers, promises)
  return promises
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
