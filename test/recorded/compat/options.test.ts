import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions, UsageError } from './options.ts'

void test('by default, all scenarios are replayed on Keelson from this source tree', () => {
  const { mode, server, choice } = parseOptions([])
  assert.deepEqual(
    { mode, server, only: choice.only },
    { mode: 'replay', server: { kind: 'keelson', args: [] }, only: [] },
  )
})

void test('the default token for a running server is admin-token', () => {
  const server = parseOptions(['--server', 'https://127.0.0.1:6443']).server
  assert.equal(server.kind === 'running' && server.token, 'admin-token')
})

const refused: [string, string[], RegExp][] = [
  ['an unknown option', ['--onyl', 'x'], /--onyl/],
  ['an unknown mode', ['reply'], /the modes are replay, record, list, changes/],
  ['a release without recordings', ['--kubernetes', '1.30'], /"1\.30" is not known/],
  ['a sample of 1.33', ['--sample', '10'], /--sample requires --kubernetes/],
  ['a name without --only', ['replay', 'crud'], /put --only/],
  ['two servers', ['--reference', '--server', 'https://a'], /leave one of them out/],
  ['a server that is not a URL', ['--server', 'localhost'], /is not a URL/],
  ['a token for a server that the command starts', ['--token', 'x'], /require --server/],
  ['recording keelson', ['record'], /only a reference server/],
  ['a --parallel that is not a number', ['--parallel', 'many'], /an integer/],
  ['zero set-ups at once', ['--set-ups', '0'], /--set-ups takes an integer/],
  ['recording with --again', ['record', '--reference', '--again'], /requires the mode replay/],
  [
    'listing scenarios that only passed when they were run again',
    ['--again', '--update-passing'],
    /cannot be combined/,
  ],
]

for (const [name, argv, message] of refused) {
  void test(`the command line is refused: ${name}`, () => {
    assert.throws(
      () => parseOptions(argv),
      (error) => error instanceof UsageError && message.test(error.message),
    )
  })
}

void test('the release is 1.33 unless --kubernetes names another recorded one', () => {
  assert.equal(parseOptions([]).release, 33)
  assert.equal(parseOptions(['--kubernetes', '1.34']).release, 34)
})
