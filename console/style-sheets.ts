/**
 * The libraries of the editor and the terminal write their styles into `style` elements and attributes. The page's policy
 * refuses these, because a guest's would look the same. Here they become style sheets and properties, which scripts may
 * set, because they are never parsed as HTML.
 */

let isDone = false

export function allowStylesFromScripts(): void {
  if (isDone) return
  isDone = true
  const create = document.createElement.bind(document)
  document.createElement = (name: string, options?: ElementCreationOptions): HTMLElement =>
    name === 'style' ? createSheet(create) : create(name, options)
  const descriptor = Object.getOwnPropertyDescriptor(Element.prototype, 'setAttribute')
  const setAttribute = descriptor?.value as (this: Element, name: string, value: string) => void
  Element.prototype.setAttribute = function (this: Element, name: string, value: string): void {
    if (name === 'style' && this instanceof HTMLElement) this.style.cssText = value
    else setAttribute.call(this, name, value)
  }
}

/** An invisible element. Its text is a style sheet of the document while the element is in the page. */
function createSheet(create: (name: string) => HTMLElement): HTMLElement {
  const stand = create('template')
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  let text = ''
  Object.defineProperty(stand, 'textContent', {
    get: () => text,
    set: (value: string) => {
      text = value
      sheet.replaceSync(value)
    },
  })
  stand.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)
    Element.prototype.remove.call(stand)
  }
  return stand
}
