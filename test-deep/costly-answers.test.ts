/** The forms of costly answers that test/adapters/http/costly-answers.test.ts leaves out. */
import { testLongResult, testManyKeys } from '../test/support/sizes/costly-answer-tests.ts'

testManyKeys('text/event-stream')
testLongResult('application/json')
