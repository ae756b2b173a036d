/** 1000 values in three languages, there and back; with --wide 20,000 go to each. */
import { useLazaret } from '../support/use-lazaret.ts'
import { describeRoundTrips } from './round-trips.ts'

describeRoundTrips(await useLazaret(), 2)
