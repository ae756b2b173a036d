/**
 * Opens the console in the browser of whoever started the server. The arguments of a program are seen by every user of the
 * machine, so the browser is given a file, which only its owner reads and which leads to the link with the token.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Ends with the server: its file goes. The browser stays. */
export async function openConsole(
  url: string,
  token: string | undefined,
  warn: (message: string) => void,
): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'lazaret-console-'))
  const file = join(folder, 'console.html')
  const link = token === undefined ? `${url}/` : `${url}/#token=${encodeURIComponent(token)}`
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${link}"><title>Lazaret</title>`
  await writeFile(file, page, { mode: 0o600 })
  const program = process.env['BROWSER'] ?? 'xdg-open'
  const child = spawn(program, [file], { stdio: 'ignore', detached: true })
  child.once('error', () => warn(`${program} cannot be started; open the link that was printed`))
  child.unref()
  return { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
