import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skipReason } from './skips.ts'
import { allCases, run } from './suite.ts'

/**
 * Number of cases that run, and number of cases that are skipped. If a newer release of the package
 * changes these numbers, check the new cases.
 */
const RUN = 1289
const SKIPPED = 1055

test('the conformance cases of the CEL specification pass', () => {
  const cases = allCases()
  const applying = cases.filter((each) => skipReason(each) === undefined)
  const failures = applying.flatMap((each) => {
    const wrong = run(each)
    return wrong === undefined
      ? []
      : [`${each.path}: ${JSON.stringify(each.test['expr'])} ${wrong}`]
  })
  assert.deepEqual(failures, [])
  assert.deepEqual(
    { run: applying.length, skipped: cases.length - applying.length },
    { run: RUN, skipped: SKIPPED },
  )
})
