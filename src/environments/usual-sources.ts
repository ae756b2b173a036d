/** Where pip and npm get their packages unless somebody configures them: the installers of guests know. */
import type { BuildGround } from './build-ground.ts'

export interface UsualSources {
  /** Addresses of the index of Python and of where its files lie. */
  readonly indexes: readonly string[]
  readonly registry: readonly string[]
}

const memoryBytes = 256 * 1024 * 1024
const askPip =
  'from pip._internal.models.index import PyPI; print(PyPI.simple_url); print("https://" + PyPI.file_storage_domain)'

/** Asks in a sandbox without a network, in which nothing but the installers is. */
export async function askForSources(open: BuildGround['open']): Promise<UsualSources> {
  await using sandbox = await open({ limits: { memoryBytes, diskBytes: memoryBytes / 4 } }, [])
  const ask = async (command: string): Promise<readonly string[]> => {
    const { success, stdout } = await sandbox.exec(command)
    return success ? stdout.split('\n').filter((line) => URL.canParse(line)) : []
  }
  const [indexes, registry] = await Promise.all([
    ask(`python3 -c '${askPip}'`),
    ask('npm config get registry --no-update-notifier'),
  ])
  return { indexes, registry }
}
