/**
 * The tables of docs/internals/kernel-surface.md, made of the allowlists. To write them anew after a change:
 * `node test/jail/seccomp/kernel-surface.ts`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { AllowList } from '../../../src/jail/seccomp/lists/allow-list.ts'
import { allowLists } from '../../../src/jail/seccomp/lists/allow-lists.ts'
import { checkoutRoot, readText } from '../../support/sources/checkout.ts'

const levels = new Map(
  allowLists(false)
    .filter(({ calls, argument }) => calls[0]?.name === 'setsockopt' && argument === 1)
    .flatMap(({ allowed }) => allowed.map(({ value, name }) => [value, name])),
)

export function describeLists(lists: readonly AllowList[]): string {
  const sections = lists.map((list) => [
    `## ${list.calls.map(({ name }) => `\`${name}\``).join(', ')}${describePlace(list)}`,
    '',
    wrap(`Everything else: \`${list.otherwise}\`. ${list.reason}`),
    '',
    '| Value | Name | Use | Needed by |',
    '|---|---|---|---|',
    ...list.allowed.map(
      ({ value, name, use, neededBy }) => `| ${describeValue(value)} | ${name} | ${use} | ${neededBy} |`,
    ),
    '',
  ])
  return sections.flat().join('\n')
}

function describePlace({ calls, argument, isFlags, when = [] }: AllowList): string {
  const kind = isFlags === undefined ? 'argument' : 'flags in argument'
  const isOption = calls.some(({ name }) => name.endsWith('sockopt'))
  const conditions = when.map((test) => {
    const value = 'isOneOf' in test ? (test.isOneOf[0] ?? 0) : 0
    return isOption ? `level ${levels.get(value) ?? value}` : `argument ${test.argument} is ${value}`
  })
  return `: ${[`${kind} ${argument}`, ...conditions].join(', ')}`
}

const lineLength = 120

function wrap(text: string): string {
  return text.replace(new RegExp(`(?=.{${lineLength + 1}})(.{1,${lineLength}}) `, 'g'), '$1\n')
}

const describeValue = (value: number) => (value < 64 ? String(value) : `0x${value.toString(16)}`)

if (import.meta.main) {
  const page = readText('docs/internals/kernel-surface.md')
  const prose = page.slice(0, page.indexOf('## '))
  writeFileSync(
    join(checkoutRoot, 'docs/internals/kernel-surface.md'),
    prose + describeLists(allowLists(false)),
  )
}
