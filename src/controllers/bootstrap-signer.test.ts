import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { tokenOf, withSignatures } from './bootstrap-signer.ts'

const clusterInfo = (data: Fields): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cluster-info', namespace: 'kube-public' },
  data,
})

test('each token signs the kubeconfig, and what nobody signs any more goes', () => {
  const data = { kubeconfig: 'content', other: 'kept', 'jws-kubeconfig-aaaaaa': 'old', 'jws-kubeconfig-abcdef': 'old' }
  const signed = withSignatures(clusterInfo(data), [{ id: 'abcdef', secret: 'secret' }])
  // As jose in Go signs it.
  const jws = 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..'
  const after = fieldsOf(signed?.['data'])
  assert.deepEqual(Object.keys(after).toSorted(), ['jws-kubeconfig-abcdef', 'kubeconfig', 'other'])
  assert.ok(textOf(after['jws-kubeconfig-abcdef']).startsWith(jws))
  assert.equal(withSignatures(clusterInfo(after), [{ id: 'abcdef', secret: 'secret' }]), undefined)
  assert.notEqual(withSignatures(clusterInfo(after), [{ id: 'abcdef', secret: 'other' }]), undefined)
  assert.equal(withSignatures(clusterInfo({ other: 'x' }), [{ id: 'abcdef', secret: 'secret' }]), undefined)
})

const encode = (data: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))

test('only tokens sign that are for that, under their own name', () => {
  const good = { 'token-id': 'abcdef', 'token-secret': 's', 'usage-bootstrap-signing': 'true' }
  const of = (data: Readonly<Record<string, string>>, name = 'bootstrap-token-abcdef') =>
    tokenOf(name, { type: 'bootstrap.kubernetes.io/token', data: encode(data) })
  assert.deepEqual(of(good), { id: 'abcdef', secret: 's', endMs: Infinity })
  assert.equal(of({ ...good, expiration: '2026-01-01T00:00:00Z' })?.endMs, Date.UTC(2026, 0, 1))
  assert.equal(of({ ...good, expiration: 'soon' })?.endMs, 0)
  assert.equal(of(good, 'bootstrap-token-abcdee'), undefined)
  assert.equal(of({ ...good, 'usage-bootstrap-signing': 'yes' }), undefined)
  assert.equal(of({ ...good, 'token-secret': '' }), undefined)
  assert.equal(tokenOf('bootstrap-token-abcdef', { type: 'Opaque', data: encode(good) }), undefined)
})
