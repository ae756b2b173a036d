/** The messages of actors. These shapes are an existing contract, so we cannot choose their names and units. */
export interface Message {
  /** Default: a new id. */
  readonly id?: string
  readonly from?: string
  /** Default: the actor that receives it. */
  readonly to?: string
  /** Only `execute` is supported. */
  readonly type: string
  /** An `ExecutePayload`; anything else gets an answer that says what is wrong. */
  readonly payload?: unknown
  readonly correlationId?: string
  /** Milliseconds since 1970. Default: now. */
  readonly timestamp?: number
  readonly pattern?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface ExecutePayload {
  readonly code: string
  /** Default `javascript`. */
  readonly language?: 'javascript' | 'typescript'
  /** Milliseconds. Default: the actor's timeout. */
  readonly timeout?: number
}

export type MessageResponse = ResponseNames & Answer

export interface ResponseNames {
  readonly id: string
  readonly correlationId: string
  readonly from: string
  readonly to: string
  /** Milliseconds since 1970. */
  readonly timestamp: number
}

export type Answer =
  | { readonly success: true; readonly payload: ExecutionPayload; readonly error?: undefined }
  | {
      readonly success: false
      /** Why it failed. */
      readonly error: string
      /** Absent if the message was refused and nothing ran. */
      readonly payload?: ExecutionPayload
    }

export interface ExecutionPayload {
  /** Plain JSON; absent if the code evaluated to `undefined` or failed. */
  readonly result?: unknown
  /** One entry for each call of the console; guest text. */
  readonly logs: string[]
  /** Whole milliseconds from the start of the run; a parked process started earlier. */
  readonly executionTime: number
  /** Absent when the code failed. */
  readonly language?: 'javascript' | 'typescript'
  readonly killedByTimeout?: true
}
