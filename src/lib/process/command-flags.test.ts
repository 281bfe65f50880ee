import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingValues, readCommandFlags } from './command-flags.ts'

const names = { values: ['data-dir', 'dir'], switches: ['all'] }

test('arguments are split into values, switches, and the rest in order', () => {
  const args = [
    '--dir=a',
    'x',
    '--data-dir',
    '--b',
    '--all',
    '--dir',
    'c=d',
    '--other=1',
    '--dir=e=f',
    '--alls',
  ]
  const { values, on, rest } = readCommandFlags(args, names)
  assert.deepEqual(
    [...values],
    [
      ['dir', 'e=f'],
      ['data-dir', '--b'],
    ],
  )
  assert.deepEqual([...on], ['all'])
  assert.deepEqual(rest, ['x', '--other=1', '--alls'])
})

test('a switch can be turned off again, and does not accept other values', () => {
  assert.deepEqual([...readCommandFlags(['--all', '--all=false'], names).on], [])
  assert.deepEqual(readCommandFlags(['--all=maybe'], names).rest, ['--all=maybe'])
})

test('missing values are reported', () => {
  assert.deepEqual(missingValues(readCommandFlags(['--dir=', '--data-dir'], names)), [
    '--dir needs a value: --dir=…',
    '--data-dir needs a value: --data-dir=…',
  ])
})
