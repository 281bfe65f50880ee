import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../test/support/harness/turns.ts'
import { printResourceList } from '../api/resource-list.ts'
import { aggregateResources } from './pod-resources.ts'

const container = (requests: { readonly [name: string]: string }, restartPolicy?: string) => ({
  resources: { requests },
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
})

const total = (spec: Parameters<typeof aggregateResources>[0]): unknown => ({
  ...printResourceList(aggregateResources(spec, 'requests')),
})

test('an init container needs its own resources and those of the sidecars that were started before it', () => {
  const initContainers = [
    container({ cpu: '5' }),
    container({ cpu: '1', memory: '1Gi' }, 'Always'),
    container({ cpu: '3', 'a/b': '2' }),
    container({ memory: '2Gi' }, 'Always'),
  ]
  assert.deepEqual(total({ initContainers }), { cpu: '5', memory: '3Gi', 'a/b': '2' })
  const containers = [container({ cpu: '2' }), container({ cpu: '4', 'a/b': '1' })]
  assert.deepEqual(total({ initContainers, containers }), { cpu: '7', memory: '3Gi', 'a/b': '2' })
})

test('the resources of many sidecars are added up in little time', () => {
  const initContainers = Array.from({ length: 20_000 }, (_, at) =>
    container({ [`example.com/r${at}`]: '1' }, 'Always'),
  )
  const ms = cpuMsOf(() => aggregateResources({ initContainers }, 'requests'))
  assert.ok(ms < 2000, `${ms} ms`)
})
