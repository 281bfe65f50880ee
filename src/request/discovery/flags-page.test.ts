import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagsPage } from './flags-page.ts'

const asked = { headers: { accept: '*/*' }, query: new URLSearchParams() }

test('the page /flagz begins like that of kube-apiserver, and lists the flags in alphabetical order', () => {
  const flags = new Map([
    ['secure-port', '6443'],
    ['client-ca-file', ''],
    ['etcd-servers', '[http://127.0.0.1:1,http://127.0.0.1:2]'],
  ])
  const { status, body } = flagsPage(asked, flags, 33)
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

test('since 1.35, the page /flagz has another title, and programs get it as JSON', () => {
  const flags = new Map([
    ['b', '1'],
    ['a', ''],
  ])
  const lines = String(flagsPage(asked, flags, 35).body).split('\n')
  assert.equal(lines[1], 'kube-apiserver flagz')
  assert.deepEqual(lines.slice(3), ['a=', 'b=1', ''])
  const accept = 'application/json;as=Flagz;v=v1alpha1;g=config.k8s.io'
  const { body } = flagsPage({ ...asked, headers: { accept } }, flags, 35)
  assert.deepEqual(JSON.parse(String(body)), {
    kind: 'Flagz',
    apiVersion: 'config.k8s.io/v1alpha1',
    metadata: { name: 'kube-apiserver' },
    flags: { a: '', b: '1' },
  })
})
