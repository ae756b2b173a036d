/** What is said of one error, whatever the door. */
export interface ErrorRow {
  readonly kind: 'refusal' | 'fault'
  readonly message: string
  readonly hint: string
  readonly httpStatus: number
  readonly exitCode: number
  readonly retryable: boolean
}
