/**
 * Opens the console in the browser of the user who started the server. Every user of the machine can see a program's
 * arguments. So the browser gets a file that only its owner can read, which redirects to the link with the token.
 */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { PrivateFolder } from '../../../jail/machine/private-folder.ts'

/** Its disposal deletes the file; the browser stays open. */
export async function openConsole(
  url: string,
  token: string | undefined,
  warn: (message: string) => void,
): Promise<AsyncDisposable> {
  const folder = await PrivateFolder.make()
  const file = join(folder.path, 'console.html')
  const link = token === undefined ? `${url}/` : `${url}/#token=${encodeURIComponent(token)}`
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${link}"><title>Lazaret</title>`
  await writeFile(file, page, { mode: 0o600 })
  const program = process.env['BROWSER'] ?? 'xdg-open'
  const child = spawn(program, [file], { stdio: 'ignore', detached: true })
  child.once('error', () => warn(`${program} cannot be started; open the link that was printed`))
  child.unref()
  return folder
}
