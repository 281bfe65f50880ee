import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configure } from './configure.ts'
import { createCredentials } from './credentials.ts'

test('warnings about the flags of a test cluster are logged by the cluster', () => {
  const logged: string[] = []
  const flags = ['--apiserver-count=2', '--feature-gates=KMSv1=true']
  configure(
    { flags, log: (level, message) => logged.push(`${level} ${message}`) },
    createCredentials(),
  )
  assert.equal(logged.length, 2, logged.join('\n'))
  assert.match(logged[0] ?? '', /^warn Flag --apiserver-count has been deprecated/)
  assert.match(logged[1] ?? '', /^warn Setting deprecated feature gate KMSv1=true/)
})
