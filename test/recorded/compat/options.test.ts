import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions, UsageError } from './options.ts'

void test('nothing said: replay all on keelson from this tree', () => {
  const { mode, server, choice } = parseOptions([])
  assert.deepEqual(
    { mode, server, only: choice.only },
    { mode: 'replay', server: { kind: 'keelson', args: [] }, only: [] },
  )
})

void test('a server that runs gets the admin token unless told otherwise', () => {
  const server = parseOptions(['--server', 'https://127.0.0.1:6443']).server
  assert.equal(server.kind === 'running' && server.token, 'admin-token')
})

const refused: [string, string[], RegExp][] = [
  ['an unknown option', ['--onyl', 'x'], /--onyl/],
  ['an unknown mode', ['reply'], /none of replay, record, list/],
  ['a name without --only', ['replay', 'crud'], /put --only/],
  ['two servers', ['--reference', '--server', 'https://a'], /leave one of them out/],
  ['a server that is no address', ['--server', 'localhost'], /is no address/],
  ['a token for a server that is started here', ['--token', 'x'], /go with --server/],
  ['recording keelson', ['record'], /only a reference server/],
  ['a parallel that is no number', ['--parallel', 'many'], /whole number/],
  ['no set-up at a time', ['--set-ups', '0'], /--set-ups takes a whole number/],
  ['recording what differs', ['record', '--reference', '--again'], /goes with replay/],
  ['listing what passed the second time', ['--again', '--update-passing'], /do not go together/],
]

for (const [name, argv, message] of refused) {
  void test(`refused: ${name}`, () => {
    assert.throws(
      () => parseOptions(argv),
      (error) => error instanceof UsageError && message.test(error.message),
    )
  })
}
