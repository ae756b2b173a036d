/** The same program and input give the same output: in another process, order, place and language, and by other code. */
import { testDeterminism } from '../support/sizes/snippet-determinism-tests.ts'

testDeterminism(100)
