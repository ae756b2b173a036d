/** The corpus, and new programs for twenty seconds. */
import { testOptionFuzzing } from '../../test/support/sizes/option-fuzzing-tests.ts'

testOptionFuzzing(20)
