/** The harness of one process: it serves one run. */
import { loadAhead, serve } from './serve.ts'

void serve({ load: loadAhead })
