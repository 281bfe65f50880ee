import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../api/object.ts'
import { parts } from '../../../lib/scheduling/parts.ts'
import { formatWarnings } from './format-warnings.ts'

const specOf = (...formats: readonly string[]): Fields => ({
  versions: [
    {
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: Object.fromEntries(
            formats.map((format) => [`p-${format}`, { type: 'string', format }]),
          ),
          additionalProperties: { type: 'array', items: { type: 'integer', format: 'large' } },
        },
      },
    },
  ],
})

test('since 1.34, unknown formats of strings cause warnings', () => {
  const spec = specOf('color', 'date-time', 'uuid')
  assert.deepEqual(formatWarnings(spec, undefined, 33), [])
  assert.deepEqual(formatWarnings(spec, undefined, 34), ['unrecognized format "color"'])
})

test('an update causes no warnings about the formats of the stored definition', () => {
  const [before, now] = [specOf('color'), specOf('color', 'shape')]
  assert.deepEqual(formatWarnings(now, before, 34), ['unrecognized format "shape"'])
})

const many = 2_000
const schemas: { readonly [about: string]: Fields } = {
  properties: {
    properties: Object.fromEntries(Array.from({ length: many }, (_, at) => [`p${at}`, {}])),
    additionalProperties: { type: 'string', format: 'color' },
  },
  alternatives: {
    anyOf: Array.from({ length: many }, () => ({ type: 'string', format: 'color' })),
  },
}

for (const [about, openAPIV3Schema] of Object.entries(schemas)) {
  test(`unknown formats in a schema with many ${about} are found in parts`, () => {
    const spec = { versions: [{ schema: { openAPIV3Schema } }] }
    const slices = { begin: () => undefined, isOver: true, stepsPerLook: 1 }
    const steps = parts(() => formatWarnings(spec, undefined, 34), slices)
    let ticks = 0
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) {
        assert.deepEqual(value, ['unrecognized format "color"'])
        break
      }
      ticks++
    }
    assert.ok(ticks > many, `the work had only ${ticks} parts`)
  })
}
