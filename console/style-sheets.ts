/**
 * The libraries of the editor and the terminal write their styles into `style` elements and attributes, which the policy of
 * this page refuses as it would a guest's. Here they become style sheets and properties, which scripts may set: nothing of them is parsed as HTML.
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

/** An element that shows nothing; its text is a style sheet of the document for as long as it is somewhere. */
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
