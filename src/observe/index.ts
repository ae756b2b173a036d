/** `lazaret/observe`: what was done and what stood around it, checked and counted without an engine. */
export { canonicalJson } from './canonical-json.ts'
export { createReceiptKeys } from './create-keys.ts'
export type { ReceiptKeys } from './create-keys.ts'
export { verifyAudit } from './verify-audit.ts'
export type { AuditProblem, AuditVerification, VerifyAuditOptions } from './verify-audit.ts'
export { verifyReceipt } from './verify-receipt.ts'
export type { ReceiptVerification } from './verify-receipt.ts'
