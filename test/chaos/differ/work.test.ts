import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probes } from './areas/probes.ts'
import { Grammar } from './expressions.ts'
import { parseOptions } from './options.ts'
import { Schemas } from './schemas.ts'
import { Values } from './values.ts'
import { chosenCases } from './work.ts'

const values = new Values()
const input = { values, grammar: new Grammar(), schemas: new Schemas([], values), seeds: [] }
const chosen = (...argv: string[]): string[] =>
  [...chosenCases(parseOptions(argv), input)].map(({ area, number }) => `${area}/${number}`)

test('if several areas are selected, their cases run alternately', () => {
  assert.deepEqual(chosen('--area', 'cel,apply', '--from', '3', '--cases', '2'), [
    'cel/3',
    'apply/3',
    'cel/4',
    'apply/4',
  ])
})

test('an area that reads its cases from a list ends when the list ends, even before the time limit', () => {
  assert.equal(chosen('--area', 'probes', '--minutes', '5').length, probes['probes']?.length)
})
