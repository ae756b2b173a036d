/** The corpus, and new programs for twenty seconds. */
import { testOptionFuzzing } from '../../test/support/option-fuzzing-tests.ts'

testOptionFuzzing(20)
