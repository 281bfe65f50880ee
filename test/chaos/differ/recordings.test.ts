import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { areas } from './areas/areas.ts'
import { idOf, readCases, recordedAreas } from './recordings.ts'

const BYTES_MAX = 2 * 2 ** 20

test('each recorded case is unique, and has a response for each step that is not only a wait', () => {
  const ids = new Set<string>()
  for (const area of recordedAreas()) {
    assert.ok(Object.hasOwn(areas, area), area)
    for (const recorded of readCases(area)) {
      assert.equal(
        recorded.steps.filter(({ wait }) => !wait).length,
        recorded.answers.length,
        idOf(recorded),
      )
      assert.ok(!ids.has(idOf(recorded)), `${idOf(recorded)} stands twice`)
      ids.add(idOf(recorded))
    }
  }
  assert.ok(ids.size > 0)
})

test('the files of the recorded cases are together smaller than 2 MiB', () => {
  const folder = join(import.meta.dirname, 'recorded')
  const bytes = readdirSync(folder).reduce(
    (sum, file) => sum + statSync(join(folder, file)).size,
    0,
  )
  assert.ok(bytes < BYTES_MAX, `${bytes} bytes`)
})
