/** What a zygote of Bun or Node is: the engine with our harness loaded, on zygote.ts. */
import type { ZygoteProgram } from '../../../jail/cell/zygote-cell.ts'
import type { Program, ZygoteWishes } from '../../runtime.ts'
import { findZygoteLibrary } from '../../packages/zygote-libraries.ts'

const guestLibrary = '/opt/lazaret/javascript-zygote.so'

export interface Harnesses {
  /** Bundles of the harness: of a worker that is started, and of a zygote. */
  readonly guest: string
  readonly zygote: string
}

/** `program` is the one of a worker that is started. Throws RUNTIME_UNAVAILABLE where the package lacks its library. */
export function planJavaScriptZygote(
  { file, argv, env, binds }: Program,
  { guest, zygote }: Harnesses,
  { language, realm, preload, readable }: ZygoteWishes,
): ZygoteProgram {
  const harness = argv.findIndex((argument) => argument.endsWith(guest))
  const path = (argv[harness] ?? '').replace(guest, zygote)
  return {
    argv: [file, ...argv.slice(1, harness), path, guestLibrary, language, realm, ...preload],
    env,
    binds: [...binds, { host: findZygoteLibrary('javascript-zygote'), guest: guestLibrary }, ...readable],
  }
}
