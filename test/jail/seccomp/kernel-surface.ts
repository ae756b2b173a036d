/**
 * The tables of docs/internals/kernel-surface.md, generated from the allowlists. To update them after a change: `node
 * test/jail/seccomp/kernel-surface.ts`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { AllowList } from '../../../src/jail/seccomp/lists/allow-list.ts'
import { allowLists } from '../../../src/jail/seccomp/lists/allow-lists.ts'
import { checkoutRoot, readText } from '../../support/sources/checkout.ts'

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
    const name = nameOf(calls[0]?.name, test.argument, value) ?? value
    return isOption ? `level ${name}` : `argument ${test.argument} is ${name}`
  })
  return `: ${[`${kind} ${argument}`, ...conditions].join(', ')}`
}

/** The name of a value in the list of this call's argument. */
function nameOf(call: string | undefined, argument: number, value: number): string | undefined {
  return allowLists(false)
    .filter((list) => list.calls[0]?.name === call && list.argument === argument)
    .flatMap(({ allowed }) => allowed)
    .find((one) => one.value === value)?.name
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
