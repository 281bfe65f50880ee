import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from '../registry/registry.ts'
import { onRegistryChange } from './registry-changes.ts'

test('changes of the registry are reported once per batch, and are not reported after the listener was disposed of', () => {
  const registry = new Registry([])
  const due: (() => void)[] = []
  let isClosed = false
  const after = (_ms: number, run: () => void) => {
    due.push(run)
    return { close: () => (isClosed = true) }
  }
  let reported = 0
  const listening = onRegistryChange(registry, () => reported++, { after })
  for (let change = 0; change < 3; change++)
    registry.replace('example.com', { before: [], after: [] })
  assert.deepEqual([due.length, reported], [1, 0])
  due.shift()?.()
  assert.equal(reported, 1)
  registry.replace('example.com', { before: [], after: [] })
  listening[Symbol.dispose]()
  assert.ok(isClosed)
  registry.replace('example.com', { before: [], after: [] })
  assert.equal(due.length, 1)
})
