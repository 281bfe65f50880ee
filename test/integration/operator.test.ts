/**
 * Tests a small operator that uses controller-runtime and a dynamic informer, with a kind that the
 * operator itself defines.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startEtcd, toolPath } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { kubectlFor } from '../support/harness/kubectl.ts'

const OBJECTS = 20

test('an operator reconciles each object after its creation, and finalizes the object before its deletion', async () => {
  await using etcd = await startEtcd()
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  await using kubectl = await kubectlFor(server)
  const args = [`--kubeconfig=${join(kubectl.dir, 'config')}`, `--objects=${OBJECTS}`]
  const { stdout } = await promisify(execFile)(toolPath('operator'), args)
  const { seen, ...verdict } = JSON.parse(stdout)
  assert.deepEqual(verdict, {
    objects: OBJECTS,
    reconciled: OBJECTS,
    finalized: OBJECTS,
    faults: [],
  })
  assert.deepEqual([seen.added, seen.deleted], [OBJECTS, OBJECTS])
})
