/**
 * Tests that the tests named in SECURITY.md exist. Also tests the claims of its table that no other
 * test covers.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { clients, startTestServer } from './support.ts'

const root = join(import.meta.dirname, '..', '..')

test('every test that SECURITY.md names exists', () => {
  const rows = readFileSync(join(root, 'SECURITY.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const named = rows.flatMap((row) => {
    const files = row.split(/(?=`(?:src|test)\/[^`]+`)/).slice(1)
    return files.flatMap((part) => {
      const [, file = ''] = /^`([^`]+)`/.exec(part) ?? []
      const names = [...part.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name)
      assert.notEqual(names.length, 0, `no test of ${file} is named: ${row}`)
      return names.map((name) => [file, name] as const)
    })
  })
  assert.ok(named.length > 40)
  for (const [file, name] of named) {
    const text = readFileSync(join(root, file), 'utf8')
    const isThere = file.endsWith('.txt') ? text.split('\n').includes(name) : text.includes(name)
    assert.ok(isThere, `${file} has no test "${name}": correct SECURITY.md`)
  }
})

test('request paths do not give access to files of the host', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/1.1']?.(server.url) ?? assert.fail('there is a client')
  for (const path of [
    '/logs',
    '/logs/',
    '/logs/../../etc/passwd',
    '/logs/%2e%2e/%2e%2e/etc/passwd',
    '/static/x',
  ]) {
    const { status, text } = await client.call({ path })
    assert.equal(status, 404, path)
    assert.doesNotMatch(text, /root:/)
  }
})
