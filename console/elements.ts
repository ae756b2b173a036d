/** Creates elements. Text only ever becomes text nodes, so guest text is never parsed as HTML. */

export type Child = Node | string | undefined | false

type Properties = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>

/**
 * `onClick` and other `on…` keys are listeners; all others are attributes, left out if they are false or undefined.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  setAll(made, properties)
  made.append(...children.filter((child) => child !== undefined && child !== false))
  return made
}

export function drawing<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  setAll(made, properties)
  made.append(...children.filter((child) => child !== undefined && child !== false))
  return made
}

function setAll(target: Element, properties: Properties): void {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') target.addEventListener(name.slice(2).toLowerCase(), value)
    else if (value === true) target.setAttribute(name, '')
    else if (value !== undefined && value !== false) target.setAttribute(name, String(value))
  }
}

export function button(label: string, act: () => unknown, properties: Properties = {}): HTMLButtonElement {
  return element('button', { type: 'button', ...properties, onClick: () => void act() }, label)
}
