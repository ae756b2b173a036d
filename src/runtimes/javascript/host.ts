/** What `bun` and `node` have in common: the same harness and the same packages beside it. */
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
/** The same harness, bundled for each engine. */
const harnesses = {
  bun: `${guestFolder}/runtimes/javascript/guest-bun.js`,
  node: `${guestFolder}/runtimes/javascript/guest-node.js`,
}

export function prepareJavaScript(request: RunRequest, limits: Limits, engine: Engine): Program {
  const file = `${engineFolder}/${engine.name}`
  return {
    file,
    argv: [file, ...engine.flags, harnesses[engine.name]],
    env: { ...engine.env, ...guestEnvironment(request, [engineFolder]) },
    binds: [{ host: engine.binary, guest: file }, guestBind(), ...compilerBinds(request, engine)],
    files: workspaceFiles(request),
    guestRequest: writeGuestRequest(
      request.language === 'typescript' ? 'typescript' : 'javascript',
      request,
      limits,
    ),
    baseDataBytes: engine.baseDataBytes,
  }
}

/**
 * The compilers. They run inside: a native parser that a guest's source can crash has no place on the host. In Node a
 * program in JavaScript may import TypeScript too.
 */
function compilerBinds({ language }: RunRequest, { name }: Engine): Bind[] {
  const acorn = packageBind('acorn')
  const isNeeded = language === 'typescript' || name === 'node'
  return isNeeded ? [acorn, packageBind('oxc-transform'), nativeTransform()] : [acorn]
}

function nativeTransform(): Bind {
  const from = pathToFileURL(`${findPackage('oxc-transform', import.meta.url)}/package.json`).href
  return packageBind(`@oxc-transform/binding-linux-${process.arch}-gnu`, from)
}
