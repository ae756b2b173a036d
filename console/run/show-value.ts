import { element } from '../elements.ts'
import { createValueTree } from '../values/value-tree.ts'

const textMax = 100_000

/** Shows a value with members as a tree and as the text of its language; any other only as its text. */
export function showValue(value: unknown, valueText: string): HTMLElement {
  const text = element('pre', {}, valueText.slice(0, textMax))
  const tree = createValueTree(value)
  const title = element('span', { class: 'muted' }, 'Value')
  if (tree === undefined) return element('div', { class: 'value' }, title, text)
  return element(
    'div',
    { class: 'value' },
    title,
    tree,
    element('details', { class: 'as-text' }, element('summary', { class: 'muted' }, 'As text'), text),
  )
}
