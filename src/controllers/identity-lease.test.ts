import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverName } from './identity-lease.ts'

test('a server is named as upstream names it, by its host', () => {
  assert.equal(serverName('node-1'), 'apiserver-lgabes5ywnaqeagh5dny4zlzs4')
  assert.equal(serverName('control-plane-0.example.com'), 'apiserver-vda2arxtvsv5lfa4lk2htf3rki')
})
