/** What actors say to each other. Others know these shapes, so their names and units are not ours to choose. */
export interface Message {
  /** Default: a fresh one. */
  readonly id?: string
  readonly from?: string
  /** Default: the actor that receives it. */
  readonly to?: string
  /** `execute` is the only one that is understood. */
  readonly type: string
  /** An `ExecutePayload`; whatever else it is gets an answer that says what is wrong. */
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
  /** Milliseconds. Default: the actor's. */
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
      /** Absent when the message was refused, and nothing ran. */
      readonly payload?: ExecutionPayload
    }

export interface ExecutionPayload {
  /** Plain JSON; absent when the code gave `undefined`, or failed. */
  readonly result?: unknown
  /** One entry for each call of the console; guest text. */
  readonly logs: string[]
  /** Whole milliseconds, from the start of the process; that of one that waited was before. */
  readonly executionTime: number
  /** Absent when the code failed. */
  readonly language?: 'javascript' | 'typescript'
  readonly killedByTimeout?: true
}
