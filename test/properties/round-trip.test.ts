/** 1000 values to guests in three languages and back; with --wide 20,000 for each. */
import { useLazaret } from '../support/use-lazaret.ts'
import { describeRoundTrips } from './round-trips.ts'

describeRoundTrips(await useLazaret(), 2)
