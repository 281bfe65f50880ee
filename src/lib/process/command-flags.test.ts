import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CommandFlagTable, missingValues, readCommandFlags } from './command-flags.ts'

const flags = {
  'data-dir': { type: 'string', help: '' },
  dir: { type: 'string', help: '' },
  output: { type: 'string', short: 'o', help: '' },
  all: { type: 'boolean', help: '' },
} as const satisfies CommandFlagTable

test('command-line arguments are divided into values of flags, switches, and all other arguments in order', () => {
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
  const { values, on, rest } = readCommandFlags(args, flags)
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

test('a flag can be written with its one-letter name', () => {
  for (const args of [['-o', 'json'], ['-ojson'], ['-o=json'], ['--output', 'json']])
    assert.deepEqual(readCommandFlags(args, flags), {
      values: new Map([['output', 'json']]),
      on: new Set(),
      rest: [],
    })
  assert.deepEqual(readCommandFlags(['-v', '-'], flags).rest, ['-v', '-'])
})

test('a later --all=false turns off the switch --all, and a switch accepts only the values true and false', () => {
  assert.deepEqual([...readCommandFlags(['--all', '--all=false'], flags).on], [])
  assert.deepEqual(readCommandFlags(['--all=maybe'], flags).rest, ['--all=maybe'])
})

test('flags without their required values are reported', () => {
  assert.deepEqual(missingValues(readCommandFlags(['--dir=', '--data-dir'], flags)), [
    '--dir needs a value: --dir=…',
    '--data-dir needs a value: --data-dir=…',
  ])
})
