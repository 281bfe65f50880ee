import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsPage } from './flags-page.ts'

test('the page /flagz begins like that of kube-apiserver, and lists the flags in alphabetical order', () => {
  const flags = new Map([
    ['secure-port', '6443'],
    ['client-ca-file', ''],
    ['etcd-servers', '[http://127.0.0.1:1,http://127.0.0.1:2]'],
  ])
  const { status, body } = flagsPage({ headers: { accept: '*/*' } }, flags)
  const lines = String(body).split('\n')
  assert.equal(status, 200)
  assert.deepEqual(lines.slice(0, 2), ['', 'kube-apiserver flags'])
  assert.deepEqual(lines.slice(3), [
    '',
    'client-ca-file=',
    'etcd-servers=[http://127.0.0.1:1,http://127.0.0.1:2]',
    'secure-port=6443',
    '',
  ])
})
