import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributes } from '../../../../test/support/harness/admission.ts'
import type { AuditRecorder } from '../../../api/audited.ts'
import type { HoldResult } from '../../../api/request.ts'
import { Transcoder } from '../../../objects/codec/protobuf/transcode.ts'
import { EvictionQueue } from '../../../storage/cache/eviction-queue.ts'
import { Slabs } from '../../../storage/cache/slabs.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { ResourceForms } from './forms.ts'
import { represent } from './represent.ts'
import { WrittenMessages } from './written-messages.ts'

const unused = (): never => assert.fail('this function is not called')

/** Reads a large object whose response is recorded in the audit log. */
function readAudited(result: HoldResult): void {
  const { resource, context } = attributes({ plural: 'configmaps' })
  const audited: AuditRecorder = {
    wantsRequest: true,
    wantsResponse: true,
    objectBytesMax: 16 << 20,
    copies: 2,
    requestObject: unused,
    requestPatch: unused,
    responseObject: () => undefined,
  }
  context.audited = audited
  const http: ResourceRequest['http'] = {
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    headers: {},
    body: unused,
    hasBody: false,
    pipeBody: unused,
    signal: new AbortController().signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
    holdObject: () => result,
  }
  const target = {
    verb: 'get',
    subresource: '',
    view: undefined,
    namespace: 'n',
    name: 'c',
  } as const
  const request = { ...target, resource, user: context.user, context, http }
  const forms = new ResourceForms(resource, {
    memos: { queue: new EvictionQueue(0), slabs: new Slabs() },
    transcoder: new Transcoder(),
    written: new WrittenMessages(),
    nowMs: () => 0,
  })
  const object = { metadata: { name: 'c', namespace: 'n' }, data: { a: 'x'.repeat(100_000) } }
  const typed = { apiVersion: 'v1', kind: 'ConfigMap', ...object }
  void represent({ type: 'json', isIndented: false }, forms, request).object(typed, resource.shape)
}

test('a read is rejected with 413 instead of 429 if its audit record can never fit into memory', () => {
  readAudited('held')
  assert.throws(() => readAudited('busy'), { code: 429 })
  assert.throws(() => readAudited('too-large'), { code: 413 })
})
