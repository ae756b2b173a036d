/**
 * The HTTP proxy of srt (`@anthropic-ai/sandbox-runtime`) in its own process, used with CONNECT, and allowing every
 * host. A sandbox of srt reaches it through two socat processes, which are left out here. It is installed only for the
 * benchmark, like reference-service.ts.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const name = '@anthropic-ai/sandbox-runtime'
const version = '0.0.83'
const folder = join(import.meta.dirname, '../../node_modules/.cache/lazaret-bench-srt')
const program = `
const { createHttpProxyServer } = await import(process.argv[1])
const server = createHttpProxyServer({ filter: () => true })
server.listen(0, '127.0.0.1', () => console.log(server.address().port))`

export interface SrtProxy extends AsyncDisposable {
  readonly port: number
}

/** Returns the reason if it is not available. */
export async function openSrtProxy(): Promise<SrtProxy | string> {
  const entry = join(folder, 'node_modules', name, 'dist/sandbox/http-proxy.js')
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const wanted = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]
    const { status } = spawnSync('npm', wanted, { cwd: folder, stdio: 'ignore', timeout: 180_000 })
    if (status !== 0 || !existsSync(entry)) return `npm could not install ${name}@${version}.`
  }
  const words = ['--input-type=module', '-e', program, pathToFileURL(entry).href]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    port: Number(line.toString()),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
