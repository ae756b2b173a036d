/** A thousand runs, cancelled at their exit. */
import { testCancelsAtExit } from '../../test/support/sizes/cancel-at-exit-tests.ts'
import { useLazaret } from '../../test/support/use-lazaret.ts'

await testCancelsAtExit(await useLazaret(), 1000)
