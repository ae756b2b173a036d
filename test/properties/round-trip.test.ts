/** 1,500 values in three languages, there and back. The deep suite sends 20,000 to each. */
import { useLazaret } from '../support/use-lazaret.ts'
import { describeRoundTrips } from './round-trips.ts'

describeRoundTrips(await useLazaret(), 3)
