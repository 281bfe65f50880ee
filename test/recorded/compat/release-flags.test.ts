import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseFlags } from './release-flags.ts'

void test('a set-up for another release has no feature gates that the release cannot set', () => {
  const flags = [
    '--feature-gates=AuthorizeWithSelectors=false,PodLevelResources=true,NoSuchGate=true',
    '--feature-gates=ElasticIndexedJob=true',
    '--runtime-config=api/all=true',
  ]
  assert.deepEqual(releaseFlags(flags, 34), [
    '--feature-gates=PodLevelResources=true',
    '--runtime-config=api/all=true',
  ])
})

void test('a set-up for 1.33 keeps all flags', () => {
  const flags = ['--feature-gates=NoSuchGate=true']
  assert.deepEqual(releaseFlags(flags, 33), flags)
})
