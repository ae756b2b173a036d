/**
 * The same program and input give the same output: in another process, order, time zone and language, and with other
 * machine code.
 */
import { fixedSeed } from '../support/seed.ts'
import { testDeterminism } from '../support/sizes/snippet-determinism-tests.ts'

testDeterminism(100, fixedSeed)
