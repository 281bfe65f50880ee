import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseFlags } from './release-flags.ts'

void test('the flags for another release omit the feature gates that this release does not let users set', () => {
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

void test('the flags for another release omit versions that this release does not have', () => {
  const flags = ['--runtime-config=storagemigration.k8s.io/v1alpha1=true,batch/v1=true']
  assert.deepEqual(releaseFlags(flags, 35), ['--runtime-config=batch/v1=true'])
})

void test('the flags for another release include the gates on which other gates depend', () => {
  assert.deepEqual(releaseFlags(['--feature-gates=ClusterTrustBundleProjection=true'], 35), [
    '--feature-gates=ClusterTrustBundleProjection=true',
    '--feature-gates=ClusterTrustBundle=true',
  ])
  assert.deepEqual(releaseFlags(['--feature-gates=MatchLabelKeysInPodTopologySpread=false'], 35), [
    '--feature-gates=MatchLabelKeysInPodTopologySpread=false',
    '--feature-gates=MatchLabelKeysInPodTopologySpreadSelectorMerge=false',
  ])
})

void test('the flags for 1.33 remain unchanged', () => {
  const flags = ['--feature-gates=NoSuchGate=true']
  assert.deepEqual(releaseFlags(flags, 33), flags)
})
