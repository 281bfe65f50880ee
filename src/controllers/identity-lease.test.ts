import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverName } from './identity-lease.ts'

test('the name of a server is derived from its host name in the same way as in kube-apiserver', () => {
  assert.equal(serverName('node-1'), 'apiserver-lgabes5ywnaqeagh5dny4zlzs4')
  assert.equal(serverName('control-plane-0.example.com'), 'apiserver-vda2arxtvsv5lfa4lk2htf3rki')
})
