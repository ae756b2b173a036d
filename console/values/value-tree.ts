/**
 * A value as a tree that opens level by level. A level is drawn only when it is opened, one page at a time, because a value
 * may have millions of members, and may contain itself.
 */
import { button, element } from '../elements.ts'
import { type Member, membersOf, summarize } from './members.ts'

/** Members of one level that are shown at first, and for each further click. */
const pageLength = 100

/** Undefined for a value without members: its text says everything. */
export function createValueTree(value: unknown): HTMLElement | undefined {
  const members = membersOf(value)
  if (members === undefined) return undefined
  const root = element('div', { class: 'tree' }, drawNode({ value, members }))
  const first = root.querySelector('details')
  if (first !== null) first.open = true
  return root
}

interface Inner {
  readonly label?: string | undefined
  readonly value: unknown
  readonly members: Iterable<Member>
}

function drawMember({ label, value }: Member): HTMLElement {
  const members = membersOf(value)
  return element(
    'li',
    {},
    members === undefined
      ? element('span', { class: 'leaf' }, ...describe(label, value))
      : drawNode({ label, value, members }),
  )
}

function drawNode({ label, value, members }: Inner): HTMLElement {
  const node = element('details', {}, element('summary', {}, ...describe(label, value)))
  node.addEventListener(
    'toggle',
    () => {
      if (node.childElementCount === 1) node.append(drawLevel(members))
    },
    { once: true },
  )
  return node
}

function drawLevel(members: Iterable<Member>): HTMLElement {
  const list = element('ul', {})
  const rest = members[Symbol.iterator]()
  const drawPage = (): void => {
    for (let count = 0; count < pageLength; count++) {
      const next = rest.next()
      if (next.done === true) return
      list.append(drawMember(next.value))
    }
    const more = button(`Show ${pageLength} more`, showMore, { class: 'quiet' })
    const row = element('li', {}, more)
    function showMore(): void {
      row.remove()
      drawPage()
    }
    list.append(row)
  }
  drawPage()
  return list
}

function describe(label: string | undefined, value: unknown): HTMLElement[] {
  const { kind, text } = summarize(value)
  const shown = element('span', { class: `of-${kind}` }, text)
  return label === undefined ? [shown] : [element('span', { class: 'label' }, `${label}:`), shown]
}
