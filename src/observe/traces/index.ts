/** `lazaret/traces`: spans for OpenTelemetry. Needs the optional package `@opentelemetry/api`. */
export { traceWork } from './trace-work.ts'
