/** Copies the editor's code as a program that calls this server from elsewhere. Each text works as copied. */
import type { Language } from '../../src/core/request.ts'
import { button, element } from '../elements.ts'

export interface Copied {
  readonly url: string
  readonly token: string
  readonly language: Language
  readonly code: string
}

const forms: Readonly<Record<string, (copied: Copied) => string>> = {
  curl: ({ url, token, language, code }) =>
    [
      `LAZARET_TOKEN=${quote(token)}`,
      `curl -s ${quote(`${url}/v1/run`)} -H "Authorization: Bearer $LAZARET_TOKEN" \\`,
      `  -H 'Content-Type: application/json' --data-binary ${quote(JSON.stringify({ language, code }))}`,
    ].join('\n'),
  Python: ({ url, token, language, code }) =>
    [
      'import json, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    ${JSON.stringify(`${url}/v1/run`)},`,
      `    data=json.dumps({"language": ${JSON.stringify(language)}, "code": ${pythonText(code)}}).encode(),`,
      `    headers={"Authorization": "Bearer " + ${pythonText(token)}, "Content-Type": "application/json"},`,
      ')',
      'print(json.load(urllib.request.urlopen(request))["stdout"])',
    ].join('\n'),
  TypeScript: ({ url, token, language, code }) =>
    [
      `import { connectLazaret } from 'lazaret/client'`,
      '',
      `const lazaret = connectLazaret({ url: ${JSON.stringify(url)}, token: ${JSON.stringify(token)} })`,
      `const result = await lazaret.run({ language: ${JSON.stringify(language)}, code: ${JSON.stringify(code)} })`,
      'console.log(result.toText())',
    ].join('\n'),
  'Command line': ({ language, code }) => `lazaret run --language ${language} --eval ${quote(code)}`,
}

/** A shell does not interpret anything within single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** JSON's escapes are valid in Python. JSON does not escape characters beyond 16 bits. */
function pythonText(text: string): string {
  return JSON.stringify(text)
}

/** Buttons that copy, and a dialog that shows the copied text with the token hidden. */
export function createCopyButtons(read: () => Copied): HTMLElement {
  const text = element('pre', { class: 'copied', tabindex: '0' })
  const said = element('p', { class: 'muted', role: 'status' })
  const dialog: HTMLDialogElement = element(
    'dialog',
    { 'aria-label': 'Copied' },
    said,
    text,
    button('Close', () => dialog.close(), { class: 'primary' }),
  )
  const copy = async (name: string): Promise<void> => {
    const copied = read()
    const whole = forms[name]?.(copied) ?? ''
    text.textContent = whole.replaceAll(copied.token, `${copied.token.slice(0, 6)}…`)
    said.textContent = (await putInClipboard(whole))
      ? `Copied as ${name}, with your token.`
      : 'This page may not write to the clipboard. The token is left out here.'
    dialog.showModal()
  }
  return element(
    'div',
    { class: 'copy-as' },
    element('span', { class: 'muted' }, 'Copy as'),
    ...Object.keys(forms).map((name) =>
      button(name, () => copy(name), { class: 'quiet', 'data-copy': name }),
    ),
    dialog,
  )
}

/** A page has a clipboard only if it was loaded over TLS or from this machine. */
async function putInClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
