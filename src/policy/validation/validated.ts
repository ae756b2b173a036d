/**
 * Requests whose programs an adapter has read before it passed them on, so that the record of the run can include the
 * findings. The findings are not in the request itself: otherwise the author of a request could choose what the record
 * states.
 */
import type { RunRequest } from '../../core/request.ts'
import type { Validation } from '../../core/validation.ts'

const validations = new WeakMap<RunRequest, Validation>()

/** Returns the request. */
export function markValidated(request: RunRequest, validation: Validation | undefined): RunRequest {
  if (validation !== undefined) validations.set(request, validation)
  return request
}

export function validationOf(request: RunRequest): Validation | undefined {
  return validations.get(request)
}
