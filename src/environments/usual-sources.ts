/** Finds the default package sources of pip and npm, by asking the installers that guests have. */
import type { BuildGround } from './build-ground.ts'

export interface UsualSources {
  /** URLs of pip's index and of its file server. */
  readonly indexes: readonly string[]
  readonly registry: readonly string[]
}

const memoryBytes = 256 * 1024 * 1024
const askPip =
  'from pip._internal.models.index import PyPI; print(PyPI.simple_url); print("https://" + PyPI.file_storage_domain)'

/** Asks in a sandbox without a network, which contains nothing but the installers. */
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
