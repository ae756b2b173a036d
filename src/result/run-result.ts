/** The caller's result: plain data, and the same as text and JSON. */
import { toBase64 } from '../core/values/base64.ts'
import type {
  FileDocument,
  ResultDocument,
  ResultImage,
  RunData,
  RunResult,
  ToTextOptions,
} from '../core/result.ts'
import { findImage } from './images.ts'
import { toText } from './to-text.ts'
import type { TextData } from './to-text.ts'

/** The data become own properties, so that results can be spread and compared. */
export function createResult<Data extends TextData>(data: Data): RunResult & Data {
  return Object.assign(new Result(data), data)
}

class Result implements Omit<RunResult, keyof RunData> {
  readonly #data: TextData

  constructor(data: TextData) {
    this.#data = data
  }

  get ok(): boolean {
    return isOk(this.#data)
  }

  get images(): ResultImage[] {
    return this.#data.displays.map(findImage).filter((image) => image !== undefined)
  }

  toText(options?: ToTextOptions): string {
    return toText(this.#data, options)
  }

  toJSON(): ResultDocument {
    return toResultDocument(this.#data)
  }
}

function isOk({ outcome }: RunData): boolean {
  return outcome.kind === 'completed' && outcome.exitCode === 0
}

function toResultDocument(result: RunData): ResultDocument {
  const { value: _live, valueTagged, files, ...rest } = result
  return {
    ok: isOk(result),
    ...rest,
    ...(valueTagged === undefined ? {} : { value: valueTagged }),
    files: toFilesDocument(files),
  }
}

export function toFilesDocument(files: RunData['files']): Readonly<Record<string, FileDocument>> {
  return Object.fromEntries(
    Object.entries(files).map(([path, bytes]) => [
      path,
      { mime: 'application/octet-stream', base64: toBase64(bytes) },
    ]),
  )
}
