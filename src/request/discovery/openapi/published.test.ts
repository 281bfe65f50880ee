/**
 * Compares all documents with those of kube-apiserver (test/recorded/golden), which are recorded
 * without descriptions. No known differences exist.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { undescribed } from '../../../../test/recorded/golden/described.ts'
import { readDocuments } from '../../../../test/recorded/golden/read.ts'
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { systemClock } from '../../../lib/time/clock.ts'
import { builtInResources } from '../../../registry/built-in.ts'
import { Registry } from '../../../registry/registry.ts'
import { OpenApiLibrary } from './library.ts'

const v3 = '/openapi/v3/'
const allOn: Gates = { release: 33, isOn: () => true }

const [byDefault, all] = [readDocuments('default'), readDocuments('all')]

/**
 * The documents that kube-apiserver publishes for each set of API versions. `byDefault` contains
 * the documents for the default versions. `all` contains the documents that are different when all
 * versions are enabled.
 */
const sets = [
  { of: 'with the default API versions', published: byDefault, resources: builtInResources() },
  {
    of: 'with all API versions',
    published: new Map([...byDefault, ...all]),
    resources: builtInResources({ isServed: () => true, gates: allOn }),
  },
]

for (const { of, published, resources } of sets) {
  const library = (): OpenApiLibrary =>
    new OpenApiLibrary({
      registry: new Registry(resources),
      hasIssuer: true,
      clock: systemClock,
      gates: defaultGates,
    })

  const assertSame = (json: Buffer, path: string): void => {
    const own = undescribed(JSON.parse(json.toString()))
    assert.equal(JSON.stringify(own, null, 1), JSON.stringify(published.get(path), null, 1), path)
  }

  test(`every OpenAPI v3 document equals that of kube-apiserver, ${of}`, async () => {
    const own = library()
    const keys = [...published.keys()].flatMap((path) =>
      path.startsWith(v3) ? [path.slice(v3.length)] : [],
    )
    assert.deepEqual(own.keys, keys.toSorted())
    for (const key of keys) {
      const kept = await own.v3(key)
      assert.ok(kept !== undefined, key)
      assertSame(kept.json, `${v3}${key}`)
    }
  })
}

test('the OpenAPI v2 document equals that of kube-apiserver', async () => {
  const registry = new Registry(builtInResources())
  const library = new OpenApiLibrary({
    registry,
    hasIssuer: true,
    clock: systemClock,
    gates: defaultGates,
  })
  const own = undescribed(JSON.parse((await library.v2()).json.toString()))
  assert.equal(JSON.stringify(own, null, 1), JSON.stringify(byDefault.get('/openapi/v2'), null, 1))
})
