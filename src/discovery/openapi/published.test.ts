/** All documents against those of kube-apiserver (test/golden), which have no descriptions. There are no known differences. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { undescribed } from '../../../test/golden/described.ts'
import { readDocuments } from '../../../test/golden/read.ts'
import { systemClock } from '../../lib/clock.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { OpenApiLibrary } from './library.ts'

const published = readDocuments('default')
const v3 = '/openapi/v3/'

const library = (): OpenApiLibrary =>
  new OpenApiLibrary({ registry: new Registry(builtInResources()), hasIssuer: true, clock: systemClock })

test('every v3 document is the published one', async () => {
  const own = library()
  const keys = [...published.keys()].flatMap((path) => (path.startsWith(v3) ? [path.slice(v3.length)] : []))
  assert.deepEqual(own.keys, keys.toSorted())
  for (const key of keys) {
    const kept = await own.v3(key)
    assert.ok(kept !== undefined, key)
    assertSame(kept.json, `${v3}${key}`)
  }
})

test('the v2 document is the published one', async () => {
  assertSame((await library().v2()).json, '/openapi/v2')
})

function assertSame(json: Buffer, path: string): void {
  const own = undescribed(JSON.parse(json.toString()))
  assert.equal(JSON.stringify(own, null, 1), JSON.stringify(published.get(path), null, 1), path)
}
