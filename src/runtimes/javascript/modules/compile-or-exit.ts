import type { GuestRequest } from '../../channel/channel-protocol.ts'
import { compileProgram, type Program } from './compile.ts'
import { CompileError, reportSyntaxError } from '../errors.ts'
import { exitNow } from '../failures.ts'
import type { Realm } from '../realm/own-realm.ts'

/** Compiles the program. If that fails, reports the error to the host and on stderr, and exits. */
export async function compileOrExit(request: GuestRequest, realm?: Realm): Promise<Program> {
  try {
    return await compileProgram(request, realm)
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown
    reportSyntaxError(request.code, thrown)
    return exitNow()
  }
}
