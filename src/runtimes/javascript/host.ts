/** What `bun` and `node` have in common: the same harness and the same packages beside it. */
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { Limits } from '../../core/limits.ts'
import type { RunRequest } from '../../core/request.ts'
import type { Bind } from '../../jail/shape.ts'
import { writeGuestRequest } from '../guest-request.ts'
import { findPackage, guestBind, guestFolder, packageBind } from '../package-files.ts'
import { guestEnvironment, workspaceFiles } from '../runtime.ts'
import type { Program } from '../runtime.ts'

export interface Engine {
  readonly name: 'bun' | 'node'
  /** On the host. */
  readonly binary: string
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly baseDataBytes: number
}

const engineFolder = '/opt/lazaret/bin'
const harness = `${guestFolder}/runtimes/javascript/guest.js`

export function prepareJavaScript(request: RunRequest, limits: Limits, engine: Engine): Program {
  const file = `${engineFolder}/${engine.name}`
  return {
    file,
    argv: [file, ...engine.flags, harness],
    env: { ...engine.env, ...guestEnvironment(request, [engineFolder]) },
    binds: [{ host: engine.binary, guest: file }, guestBind(), ...compilerBinds(request)],
    files: workspaceFiles(request),
    guestRequest: writeGuestRequest(
      request.language === 'typescript' ? 'typescript' : 'javascript',
      request,
      limits,
    ),
    baseDataBytes: engine.baseDataBytes,
  }
}

/** The compilers. They run inside: a native parser that a guest's source can crash has no place on the host. */
function compilerBinds(request: RunRequest): Bind[] {
  const tracing = ['@jridgewell/trace-mapping', '@jridgewell/sourcemap-codec', '@jridgewell/resolve-uri']
  if (request.language === 'javascript') return [packageBind('acorn')]
  return [
    packageBind('acorn'),
    packageBind('oxc-transform'),
    nativeTransform(),
    ...tracing.map(beside('@jridgewell/trace-mapping')),
  ]
}

function beside(owner: string): (name: string) => Bind {
  const from = pathToFileURL(`${findPackage(owner, import.meta.url)}/package.json`).href
  return (name) => (name === owner ? packageBind(name) : packageBind(name, from))
}

function nativeTransform(): Bind {
  const from = pathToFileURL(`${findPackage('oxc-transform', import.meta.url)}/package.json`).href
  const name = `@oxc-transform/binding-linux-${process.arch}-gnu`
  return packageBind(name, dirname(from) + '/')
}
