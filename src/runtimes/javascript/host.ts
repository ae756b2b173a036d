/** The host side that the `bun` and `node` runtimes share: both use the same harness and packages. */
import { dirname } from 'node:path'

import type { Limits } from '../../core/limits.ts'
import type { RunSpec } from '../../core/request.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import { packageCommands, packageVariables } from '../packages/guest-packages.ts'
import { writeGuestRequest } from '../work/guest-request.ts'
import { buildIn, manifestBind, packageBind } from '../packages/package-files.ts'
import { guestEnvironment, workspaceFiles } from '../runtime.ts'
import type { Ground, Program } from '../runtime.ts'
import { pathIn } from '../../jail/plan/place.ts'

export interface Engine {
  /** The file name of its program in /opt/lazaret/bin. */
  readonly name: string
  /** The path of its harness's bundle in Lazaret's build. */
  readonly harness: string
  /** Whether the harness compiles TypeScript files that a JavaScript program imports. Bun compiles them itself. */
  readonly compilesImports: boolean
  /** The path of the program on the host. */
  readonly binary: string
  /** `build` is the path at which guests find Lazaret's build. */
  readonly flags: (build: string) => readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly baseDataBytes: number
}

/** The folder in which guests find the engines. */
export const engineFolder = '/opt/lazaret/bin'

export function prepareJavaScript(
  spec: RunSpec,
  limits: Limits,
  { engine, place, packages: folders }: Ground & { readonly engine: Engine },
): Program {
  const binary = { host: engine.binary, guest: `${engineFolder}/${engine.name}` }
  const build = buildIn(place)
  const file = pathIn(place, binary)
  const harness = pathIn(place, build)
  const packages = harnessPackages(spec, engine)
  return {
    file,
    argv: [
      file,
      ...engine.flags(harness),
      `${harness}/${engine.harness}`,
      ...(place.work === null ? [] : packages.map(({ name, bind }) => `${name}=${bind.host}`)),
    ],
    env: {
      ...engine.env,
      ...packageVariables(folders, place),
      ...guestEnvironment(spec, place, [dirname(file), ...packageCommands(folders, place)]),
    },
    binds: [binary, build, manifestBind(), ...packages.map(({ bind }) => bind)],
    files: workspaceFiles(spec, place),
    // Bun lists its working folder at its start, and would never see what is added to the workspace later.
    waitsIn: dirname(`${harness}/${engine.harness}`),
    guestRequest: writeGuestRequest(
      spec.language === 'typescript' ? 'typescript' : 'javascript',
      spec,
      limits,
    ),
    baseDataBytes: engine.baseDataBytes,
  }
}

export interface HarnessPackage {
  readonly name: string
  readonly bind: Bind
}

/** The compilers. They run inside the cell, because a guest's source can crash a native parser. */
function harnessPackages({ language }: RunSpec, { compilesImports }: Engine): HarnessPackage[] {
  return language === 'typescript' || compilesImports ? compilerPackages() : [acornPackage()]
}

const acornPackage = (): HarnessPackage => ({ name: 'acorn', bind: packageBind('acorn') })

/** The package for JavaScript, then those for TypeScript. */
export function compilerPackages(): HarnessPackage[] {
  const transform = { name: 'oxc-transform', bind: packageBind('oxc-transform') }
  const binding = `@oxc-transform/binding-linux-${process.arch}-gnu`
  return [acornPackage(), transform, { name: binding, bind: packageBind(binding, transform.bind.host) }]
}
