/** Browses, uploads, downloads and deletes files of a sandbox. Their names are guest text, and only shown as text. */
import type { RemoteSandbox } from '../../src/adapters/client/index.ts'
import { button, element } from '../elements.ts'
import { sayBytes } from '../quantities.ts'
import { sayError } from '../view.ts'

type FileList_ = Awaited<ReturnType<RemoteSandbox['listFiles']>>
type FileEntry = FileList_['entries'][number]

const entriesMax = 500

export class FilesPane {
  readonly root: HTMLElement
  readonly #sandbox: RemoteSandbox
  readonly #list = element('ul', { class: 'files', 'aria-label': 'Files' })
  readonly #place = element('code', {}, '/workspace')
  readonly #said = element('p', { class: 'muted', role: 'status' })
  #folder = '/workspace'

  constructor(sandbox: RemoteSandbox) {
    this.#sandbox = sandbox
    const choose = element('input', {
      type: 'file',
      multiple: true,
      id: 'upload',
      'aria-label': 'Files to upload',
      class: 'hidden',
      onChange: () => void this.#upload(choose.files),
    })
    this.root = element(
      'div',
      {
        class: 'files-pane',
        onDragover: (event) => event.preventDefault(),
        onDrop: (event) => {
          event.preventDefault()
          void this.#upload((event as DragEvent).dataTransfer?.files ?? null)
        },
      },
      element(
        'div',
        { class: 'bar-row' },
        this.#place,
        element(
          'div',
          { class: 'actions' },
          button('Up', () => this.look(this.#folder.replace(/\/[^/]*$/, '') || '/'), { class: 'quiet' }),
          button('Refresh', () => this.look(), { class: 'quiet' }),
          choose,
          button('Upload', () => choose.click(), { class: 'primary' }),
        ),
      ),
      this.#list,
      element('p', { class: 'muted' }, 'Or drop files here.'),
      this.#said,
    )
  }

  async look(folder = this.#folder): Promise<void> {
    await this.#during(async () => {
      const { entries, isComplete } = await this.#sandbox.listFiles(folder, { entriesMax })
      this.#folder = folder
      this.#place.textContent = folder
      const rows = entries.map((entry) => this.#show({ ...entry, path: pathIn(folder, entry.name) }))
      this.#list.replaceChildren(...rows)
      if (entries.length === 0) this.#list.append(element('li', { class: 'muted' }, 'Nothing here.'))
      return isComplete ? '' : `The first ${entriesMax} are shown.`
    })
  }

  #show(entry: FileEntry): HTMLElement {
    const { name, path, type, bytes, isNameable } = entry
    const isFolder = type === 'folder'
    const open = (): unknown => (isFolder ? this.look(path) : this.#download(entry))
    return element(
      'li',
      {},
      isNameable && (isFolder || type === 'file')
        ? button(name + (isFolder ? '/' : ''), open, {
            class: 'file-name',
            title: isFolder ? 'Open' : 'Download',
          })
        : element('span', { class: 'file-name' }, name),
      element('span', { class: 'muted' }, isFolder ? '' : type === 'file' ? sayBytes(bytes) : type),
      isNameable &&
        button('Delete', () => this.#remove(entry), { class: 'quiet', 'aria-label': `Delete ${name}` }),
    )
  }

  async #upload(files: FileList | null): Promise<void> {
    const all = [...(files ?? [])]
    await this.#during(async () => {
      for (const file of all)
        await this.#sandbox.writeFile(
          pathIn(this.#folder, file.name),
          new Uint8Array(await file.arrayBuffer()),
        )
      await this.look()
      return `Uploaded ${all.map(({ name }) => name).join(', ')}.`
    })
  }

  async #download({ name, path }: FileEntry): Promise<void> {
    await this.#during(async () => {
      const bytes = await this.#sandbox.readFile(path, { encoding: 'bytes' })
      // The bytes come from a guest, so no browser may take them for a page.
      const address = URL.createObjectURL(
        new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' }),
      )
      element('a', { href: address, download: name }).click()
      setTimeout(() => URL.revokeObjectURL(address), 10_000)
      return `Downloaded ${name}.`
    })
  }

  async #remove({ name, path, type }: FileEntry): Promise<void> {
    await this.#during(async () => {
      await this.#sandbox.deleteFile(path, { recursive: type === 'folder' })
      await this.look()
      return `Deleted ${name}.`
    })
  }

  async #during(act: () => Promise<string>): Promise<void> {
    try {
      this.#said.textContent = await act()
    } catch (error) {
      this.#said.textContent = sayError(error)
    }
  }
}

function pathIn(folder: string, name: string): string {
  return `${folder === '/' ? '' : folder}/${name}`
}
