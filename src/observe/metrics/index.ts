/** `lazaret/metrics`: a page for Prometheus. Needs the optional package `prom-client`. */
export { LazaretMetrics } from './lazaret-metrics.ts'
export type { MeasuredLazaret } from './lazaret-metrics.ts'
