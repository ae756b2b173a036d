/** The texts and codes of one error, for every entry point. */
export interface ErrorRow {
  readonly kind: 'refusal' | 'fault'
  readonly message: string
  readonly hint: string
  readonly httpStatus: number
  readonly exitCode: number
  readonly retryable: boolean
}
