/** Plans the program of a zygote of Bun or Node: the engine with the harness for zygotes (`zygote.ts`). */
import { ownView } from '../../../jail/plan/place.ts'
import type { ZygoteProgram } from '../../../jail/cell/zygote-cell.ts'
import type { Program, ZygoteWishes } from '../../runtime.ts'
import { findZygoteLibrary } from '../../packages/zygote-libraries.ts'

const guestLibrary = '/opt/lazaret/javascript-zygote.so'

export interface Harnesses {
  /** File names of the harness's bundles, for a started worker and for a zygote. */
  readonly guest: string
  readonly zygote: string
}

/** The first argument is the program of a started worker. Throws RUNTIME_UNAVAILABLE if the package lacks the library. */
export function planJavaScriptZygote(
  { file, argv, env, binds, waitsIn }: Program,
  { guest, zygote }: Harnesses,
  { language, realm, preload, readable }: ZygoteWishes,
): ZygoteProgram {
  const harness = argv.findIndex((argument) => argument.endsWith(guest))
  const path = (argv[harness] ?? '').replace(guest, zygote)
  return {
    argv: [
      file,
      ...argv.slice(1, harness),
      path,
      guestLibrary,
      ownView.workspace,
      language,
      realm,
      ...preload,
    ],
    env,
    ...(waitsIn !== undefined && { folder: waitsIn }),
    binds: [...binds, { host: findZygoteLibrary('javascript-zygote'), guest: guestLibrary }, ...readable],
  }
}
