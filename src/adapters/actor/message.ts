/** What actors say to each other. Others know these shapes, so their names and units are not ours to choose. */
export interface Message {
  /** Default: a fresh one. */
  readonly id?: string
  readonly from?: string
  /** Default: the actor that receives it. */
  readonly to?: string
  /** `execute` is the only one that is understood. */
  readonly type: string
  readonly payload?: ExecutePayload
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

export interface MessageResponse {
  readonly id: string
  readonly correlationId: string
  readonly from: string
  readonly to: string
  readonly timestamp: number
  readonly success: boolean
  /** Why it failed; absent on success. */
  readonly error?: string
  /** Absent when the message was refused, and nothing ran. */
  readonly payload?: ExecutionPayload
}

export interface ExecutionPayload {
  /** Plain JSON; absent when the code gave `undefined`, or failed. */
  readonly result?: unknown
  /** One entry for each call of the console; guest text. */
  readonly logs: string[]
  /** Whole milliseconds. */
  readonly executionTime: number
  /** Absent when the code failed. */
  readonly language?: 'javascript' | 'typescript'
  readonly killedByTimeout?: true
}
