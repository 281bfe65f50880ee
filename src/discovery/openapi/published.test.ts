/**
 * All documents against those of kube-apiserver, which lie outside of the repository (../shared) and have no descriptions;
 * without them there is nothing to judge by. There are no known differences.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isFields, type Json } from '../../api/object.ts'
import { parseJson } from '../../codec/json.ts'
import { systemClock } from '../../lib/clock.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import { OpenApiLibrary } from './library.ts'

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'openapi')
const skip = existsSync(folder) ? false : 'there is no ../shared'

const library = (): OpenApiLibrary =>
  new OpenApiLibrary({ registry: new Registry(builtInResources()), hasIssuer: true, clock: systemClock })

test('every v3 document is the published one', { skip }, async () => {
  const own = library()
  const keys = readdirSync(folder).flatMap((file) => (file === 'v2.json' ? [] : [keyOf(file)]))
  assert.deepEqual(own.keys, keys.toSorted())
  for (const file of readdirSync(folder)) {
    if (file === 'v2.json') continue
    const kept = await own.v3(keyOf(file))
    assert.ok(kept !== undefined, file)
    assertSame(kept.json, file)
  }
})

test('the v2 document is the published one', { skip }, async () => {
  assertSame((await library().v2()).json, 'v2.json')
})

const keyOf = (file: string): string => file.replace('.json', '').replaceAll('__', '/')

/** As text, so that the order of fields counts too. */
function assertSame(json: Buffer, file: string): void {
  const expected: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  assert.equal(JSON.stringify(undescribed(parseJson(json)), null, 1), JSON.stringify(expected, null, 1), file)
}

/** A property may have the name too; then it is no text. */
function undescribed(value: Json): Json {
  if (Array.isArray(value)) return value.map(undescribed)
  if (!isFields(value)) return value
  const kept = Object.entries(value).flatMap(([name, field]): [string, Json][] =>
    field === undefined || (name === 'description' && typeof field === 'string') ? [] : [[name, undescribed(field)]],
  )
  return Object.fromEntries(kept)
}
