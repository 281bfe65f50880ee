/**
 * A node:test reporter for .ci/run. It prints a line for each test that failed or was slow, with
 * `fail` or `slow`, milliseconds, file and name. The last line of a complete run is `end`, the
 * number of tests, and a readable summary.
 */
import { relative } from 'node:path'
import type { EventData } from 'node:test'

/** Duration above which a test counts as slow. */
const SLOW_MS = 1_500

type TestEvent =
  | {
      readonly type: 'test:pass' | 'test:fail'
      readonly data: EventData.TestPass | EventData.TestFail
    }
  | { readonly type: 'test:summary'; readonly data: EventData.TestSummary }

// oxlint-disable-next-line import/no-default-export -- the test runner looks for it
export default async function* reportTests(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    // Ignore the summary of each file, which Node also emits.
    if (type === 'test:summary' && data.file === undefined) yield formatEnd(data.counts)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { details, name, file = '' } = data
    const line = `${Math.round(details.duration_ms)}\t${relative('.', file)}\t${name.replaceAll(/\s+/g, ' ')}\n`
    if (type === 'test:fail' && !isOfOthers(details)) yield `fail\t${line}`
    else if (type === 'test:pass' && details.type !== 'suite' && details.duration_ms >= SLOW_MS)
      yield `slow\t${line}`
  }
}

/** Whether a suite failed only because one of its tests failed. That test has its own line. */
const isOfOthers = (details: object): boolean =>
  'error' in details &&
  details.error instanceof Error &&
  'failureType' in details.error &&
  details.error.failureType === 'subtestsFailed'

const formatEnd = ({
  tests,
  passed,
  cancelled,
  skipped,
  todo,
}: EventData.TestSummary['counts']): string => {
  const failed = tests - passed - cancelled - skipped - todo
  return `end\t${tests}\ttests ${tests}, pass ${passed}, fail ${failed}, cancelled ${cancelled}, skipped ${skipped}, todo ${todo}\n`
}
