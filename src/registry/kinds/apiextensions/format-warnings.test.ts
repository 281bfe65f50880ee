import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../api/object.ts'
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
