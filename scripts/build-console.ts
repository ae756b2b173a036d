/**
 * Bundles the console of `lazaret serve` into a build: one page, its style and its scripts, with everything that they need
 * from other packages. The terminal's library is a separate file, which is loaded when somebody opens a terminal.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import type { Plugin } from 'rolldown'
import { layerRows } from '../src/jail/layers/layer-rows.ts'

const root = join(import.meta.dirname, '..')
const source = join(root, 'console')
const editor = join(root, 'node_modules/@codemirror/view')
const terminal = join(root, 'node_modules/@xterm/xterm')

export async function bundleConsole(build: string): Promise<void> {
  const target = join(build, 'console')
  mkdirSync(target, { recursive: true })
  await using bundle = await rolldown({
    input: join(source, 'main.ts'),
    platform: 'browser',
    external: [],
    plugins: [layersOfTheWall],
    checks: { pluginTimings: false },
  })
  const { output } = await bundle.write({
    dir: target,
    minify: true,
    comments: false,
    entryFileNames: 'console.js',
    // One further file has what only the terminal needs.
    chunkFileNames: 'terminal.js',
  })
  if (output.length !== 2) throw new Error(`the console has ${output.length} scripts`)
  addLicence(join(target, 'console.js'), 'CodeMirror and Lezer', join(editor, 'LICENSE'))
  addLicence(join(target, 'terminal.js'), '@xterm/xterm and @xterm/addon-fit', join(terminal, 'LICENSE'))
  const styles = [join(source, 'console.css'), join(terminal, 'css/xterm.css')]
  writeFileSync(join(target, 'console.css'), styles.map((file) => readFileSync(file, 'utf8')).join('\n'))
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(source, file), join(target, file))
}

/** The licences of packages that are bundled into the script. */
function addLicence(script: string, names: string, licence: string): void {
  const text = readFileSync(licence, 'utf8').trim()
  writeFileSync(script, `/*!\n${names}\n\n${text}\n*/\n${readFileSync(script, 'utf8')}`)
}

/** The page needs only the texts of the table of layers, not its code. */
const layersOfTheWall: Plugin = {
  name: 'layers-of-the-wall',
  resolveId: (id) => (id === 'lazaret:layers' ? id : null),
  load: (id) => {
    if (id !== 'lazaret:layers') return null
    return `export const layers = ${JSON.stringify(layerRows.map(({ name, stops }) => ({ name, stops })))}`
  },
}
