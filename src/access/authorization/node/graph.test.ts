import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../../test/support/harness/turns.ts'
import { SharedLists } from '../../../lib/collections/shared-lists.ts'
import { NodeGraph, referenceTo } from './graph.ts'
import { podContent } from './read-objects.ts'

const secret = (name: string): string => referenceTo('secrets', 'a', name)
const claim = (name: string): string => referenceTo('persistentvolumeclaims', 'a', name)
const seesSecret = (graph: NodeGraph, node: string, name: string, namespace = 'a'): boolean =>
  graph.refersTo(node, 'secrets', { namespace, name })

test('a node can access the objects that its pods refer to until the last of these pods is deleted', () => {
  const graph = new NodeGraph()
  graph.setPod('a/p', { node: 'n', references: [secret('s')] })
  graph.setPod('a/q', { node: 'n', references: [secret('s'), secret('t')] })
  assert.ok(graph.hasPod('n', 'a', 'p'))
  assert.ok(!graph.hasPod('m', 'a', 'p'))
  assert.ok(seesSecret(graph, 'n', 's') && seesSecret(graph, 'n', 't'))
  assert.ok(!seesSecret(graph, 'm', 's') && !seesSecret(graph, 'n', 's', 'b'))
  assert.ok(!graph.refersTo('n', 'configmaps', { namespace: 'a', name: 's' }))
  graph.setPod('a/q', undefined)
  assert.ok(seesSecret(graph, 'n', 's') && !seesSecret(graph, 'n', 't'))
  graph.setPod('a/p', undefined)
  assert.ok(!seesSecret(graph, 'n', 's') && !graph.hasPod('n', 'a', 'p'))
  graph.setPod('a/p', undefined)
  assert.deepEqual([...graph.names('pods')], [])
})

test('the graph of nodes and objects is updated when a pod is created again on another node or changes its references', () => {
  const graph = new NodeGraph()
  graph.setPod('a/p', { node: 'n', references: [secret('s'), secret('t')] })
  graph.setPod('a/p', { node: 'm', references: [secret('s'), secret('t')] })
  assert.ok(seesSecret(graph, 'm', 's') && !seesSecret(graph, 'n', 's'))
  graph.setPod('a/p', { node: 'm', references: [secret('s'), secret('u')] })
  graph.setPod('a/p', { node: 'm', references: [secret('s'), secret('u')] })
  assert.ok(
    seesSecret(graph, 'm', 's') && seesSecret(graph, 'm', 'u') && !seesSecret(graph, 'm', 't'),
  )
  graph.setPod('a/p', undefined)
  assert.ok(!seesSecret(graph, 'm', 's') && !seesSecret(graph, 'm', 'u'))
})

test('a node can access a volume and its secrets while one of its pods uses the claim that is bound to the volume', () => {
  const graph = new NodeGraph()
  const elsewhere = referenceTo('secrets', 'b', 'v')
  graph.setVolume('v', { claim: claim('c'), secrets: [elsewhere] })
  assert.ok(!graph.hasVolume('n', 'v') && !seesSecret(graph, 'n', 'v', 'b'))
  graph.setPod('a/p', { node: 'n', references: [claim('c')] })
  assert.ok(graph.hasClaim('n', { namespace: 'a', name: 'c' }))
  assert.ok(graph.hasVolume('n', 'v') && seesSecret(graph, 'n', 'v', 'b'))
  assert.ok(!graph.hasVolume('m', 'v') && !seesSecret(graph, 'm', 'v', 'b'))
  graph.setVolume('w', { claim: claim('c'), secrets: [secret('w')] })
  assert.ok(
    graph.hasVolume('n', 'w') && seesSecret(graph, 'n', 'w') && seesSecret(graph, 'n', 'v', 'b'),
  )
  graph.setVolume('v', { claim: claim('d'), secrets: [elsewhere] })
  assert.ok(
    !graph.hasVolume('n', 'v') && !seesSecret(graph, 'n', 'v', 'b') && seesSecret(graph, 'n', 'w'),
  )
  graph.setVolume('w', undefined)
  assert.ok(!graph.hasVolume('n', 'w') && !seesSecret(graph, 'n', 'w'))
  assert.deepEqual([...graph.names('volumes')], ['v'])
})

test('a VolumeAttachment or a ResourceSlice is accessible only to the node that it names', () => {
  const graph = new NodeGraph()
  graph.setAttachment('x', 'n')
  graph.setSlice('x', 'm')
  assert.ok(graph.hasAttachment('n', 'x') && !graph.hasAttachment('m', 'x'))
  assert.ok(graph.hasSlice('m', 'x') && !graph.hasSlice('n', 'x'))
  graph.setAttachment('x', undefined)
  graph.setSlice('x', undefined)
  assert.ok(!graph.hasAttachment('n', 'x') && !graph.hasSlice('m', 'x'))
})

test('access to the Secret b/s in the namespace a does not grant access to the Secret s in the namespace a/b', () => {
  const graph = new NodeGraph()
  graph.setPod('a/b/p', {
    node: 'n',
    references: [referenceTo('secrets', 'a', 'b/s'), claim('b/c')],
  })
  assert.ok(!seesSecret(graph, 'n', 's', 'a/b'))
  assert.ok(!graph.hasClaim('n', { namespace: 'a/b', name: 'c' }))
})

test('many volumes of one claim are added and removed in linear time', () => {
  const graph = new NodeGraph()
  const tookMs = cpuMsOf(() => {
    for (let at = 0; at < 20_000; at++)
      graph.setVolume(`pv${at}`, { claim: claim('c'), secrets: [] })
    for (let at = 0; at < 20_000; at++) graph.setVolume(`pv${at}`, undefined)
  })
  assert.ok(tookMs < 800, `${tookMs} ms`)
  graph.setPod('a/p', { node: 'n', references: [claim('c')] })
  assert.ok(!graph.hasVolume('n', 'pv0'))
})

test('the references of a large pod are read in steps, between which other work can run', () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `s${at}`)
  const pod = { node: 'n', namespace: 'a', names: [['secrets', names]] } as const
  let steps = 0
  for (const _ of podContent(pod, new SharedLists())) steps++
  assert.ok(steps >= 70, `${steps} steps`)
})
