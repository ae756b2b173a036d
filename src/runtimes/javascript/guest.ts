/** The entry of the harness. A process serves one run. */
import { loadAhead, serve } from './serve.ts'

void serve({ load: loadAhead })
