/** The program of a code context in JavaScript or TypeScript: Node, whose V8 has a REPL mode. */
import { ownView } from '../../jail/plan/place.ts'
import { guestBind, manifestBind } from '../packages/package-files.ts'
import { packageVariables } from '../packages/guest-packages.ts'
import type { PackageFolders } from '../packages/guest-packages.ts'
import { noNode, nodeDataBytes } from './host.ts'
import type { Toolchains } from '../packages/toolchains.ts'
import { compilerPackages, engineFolder } from '../javascript/host.ts'

/**
 * An interrupted callback of a timer skips what Node does after callbacks. Node would notice at its end, and end the
 * process.
 */
const noChecks = '--no-force-async-hooks-checks'

/** Throws RUNTIME_UNAVAILABLE if there is no Node. */
export function planJavaScriptContext(toolchains: Toolchains, packages: PackageFolders) {
  const binary = toolchains.node()
  if (binary === null) throw toolchains.refuse('node', noNode())
  const build = guestBind()
  const file = `${engineFolder}/node`
  return {
    file,
    argv: [file, noChecks, `${build.guest}/runtimes/javascript/guest-context.js`],
    env: packageVariables(packages, ownView),
    binds: [
      ...[{ host: binary, guest: file }, build, manifestBind()],
      ...compilerPackages().map(({ bind }) => bind),
    ],
    dataBytes: nodeDataBytes,
  }
}
