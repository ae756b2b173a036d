/** Writes the generated tables and columns into their pages, and leaves everything else unchanged. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { checkoutRoot } from '../sources/checkout.ts'
import { pageColumns, pageTables, withColumn } from './page-tables.ts'

for (const { page, heading, rows } of pageTables()) {
  const path = join(checkoutRoot, page)
  const table = new RegExp(`(^#+ ${heading}\\n(?:(?!#|\\|).*\\n)*?\\|.*\\n\\|-.*\\n)(?:\\|.*\\n)*`, 'm')
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replace(table, (_whole, head: string) => head + rows.map((one) => `${one}\n`).join('')),
  )
}

for (const column of pageColumns()) {
  const path = join(checkoutRoot, column.page)
  writeFileSync(path, withColumn(readFileSync(path, 'utf8'), column))
}
