/**
 * What a configuration file found in the current folder or above may do: narrow, as the table of options says. Pure.
 */
import { type OptionName, optionRows } from '../../../engine/options/option-table.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'

type Values = Partial<Record<OptionName, unknown>>

/**
 * Describes the settings of a file that would widen the options, or that it may not set at all. Empty if it only
 * narrows.
 */
export function findWidening(current: LazaretOptions, wish: LazaretOptions): string[] {
  return rowsOf(wish).flatMap(([name, { files }]) =>
    typeof files === 'string'
      ? [`\`${name}\``]
      : files.findWidening(name, (wish as Values)[name], (current as Values)[name]),
  )
}

/** Combines both: the narrower value of each option. For a file that widens nothing. */
export function narrow(current: LazaretOptions, wish: LazaretOptions): LazaretOptions {
  const narrower: Values = { ...current }
  for (const [name, { files }] of rowsOf(wish)) {
    const value = typeof files === 'string' ? undefined : files.narrow((wish as Values)[name], narrower[name])
    if (value !== undefined) narrower[name] = value
  }
  return narrower as LazaretOptions
}

/** The rows of the options that the file sets. */
function rowsOf(wish: LazaretOptions): typeof optionRows {
  return optionRows.filter(([name]) => (wish as Values)[name] !== undefined)
}
