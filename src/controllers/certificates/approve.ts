/**
 * The certificatesigningrequest-approving-controller. It approves CSRs for client certificates of
 * kubelets. The requester must be allowed to `create` `certificatesigningrequests/nodeclient`, or
 * `certificatesigningrequests/selfnodeclient` for its own certificate.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { objectOf, request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { contentOf } from '../../storage/cache/informer.ts'
import type { Clock } from '../../lib/time/clock.ts'
import {
  asksForNames,
  readPemRequest,
  RequestError,
  type WholeRequest,
} from '../../lib/x509/request.ts'
import { ObjectController, type ObjectControllerOptions } from '../object-controller.ts'
import { isExactly, isKubelet, kubeletClient } from './signer-rules.ts'

/** Number of workers, as in kube-controller-manager. */
const WORKERS_MAX = 5
/**
 * Initial and maximum delay before a CSR whose requester lacks permission is checked again, as in
 * kube-controller-manager.
 */
const REFUSED_MS_FIRST = 200
const REFUSED_MS_MAX = 1_000_000

const group = 'certificates.k8s.io'

export function approveRequests(
  options: ObjectControllerOptions & { readonly clock: Clock },
): AsyncDisposable {
  const stopping = new AbortController()
  const stack = new AsyncDisposableStack()
  stack.use(
    new ObjectController(
      {
        name: 'the approval of a certificate',
        queue: 'certificate',
        workersMax: WORKERS_MAX,
        group,
        plural: 'certificatesigningrequests',
        concerns: (item) => isPending(contentOf(item)),
        work: async (object, write) => {
          const found = isPending(object) ? recognize(object) : []
          for (const { subresource, message } of found) {
            if (
              !(await isAllowed(options.handle, { object, subresource, signal: stopping.signal }))
            )
              continue
            await write.update(approved(object, message), 'approval')
            return undefined
          }
          return found.length === 0 ? undefined : refusedMs(object, options.clock.wallMs())
        },
      },
      options,
    ),
  )
  stack.defer(() => stopping.abort())
  return stack
}

/**
 * Returns how long to wait until the CSR is checked again, because its requester may get the
 * permission later. The delay is the age of the CSR. It thus doubles with each check, and no
 * attempts need to be counted.
 */
export function refusedMs({ metadata }: KubeObject, nowMs: number): number {
  const ageMs = nowMs - Date.parse(textOf(metadata.creationTimestamp))
  return ageMs < REFUSED_MS_MAX ? Math.max(ageMs, REFUSED_MS_FIRST) : REFUSED_MS_MAX
}

function isPending({ spec, status }: Fields): boolean {
  const { certificate, conditions } = fieldsOf(status)
  if (fieldsOf(spec)['signerName'] !== kubeletClient || textOf(certificate) !== '') return false
  return !itemsOf(conditions).some(({ type }) => type === 'Approved' || type === 'Denied')
}

type RecognizedRequest = { readonly subresource: string; readonly message: string }

const self: RecognizedRequest = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
}
const other: RecognizedRequest = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
}

/**
 * Returns the ways in which the CSR can be approved, in the order of kube-controller-manager.
 * Returns an empty list if the CSR is not for a client certificate of a kubelet.
 */
export function recognize({ spec }: KubeObject): readonly RecognizedRequest[] {
  const { request: pem, usages, username } = fieldsOf(spec)
  const asked = readOr(textOf(pem))
  if (
    asked === undefined ||
    asksForNames(asked) ||
    !isKubelet(asked) ||
    !isExactly(textsOf(usages), 'client auth')
  )
    return []
  return asked.commonName === username ? [self, other] : [other]
}

function readOr(pem: string): WholeRequest | undefined {
  try {
    return readPemRequest(pem)
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

type Question = {
  readonly object: KubeObject
  readonly subresource: string
  readonly signal: AbortSignal
}

/** Resolves to whether the requester has the permission. Rejects if this cannot be determined. */
async function isAllowed(
  handle: Handler,
  { object, subresource, signal }: Question,
): Promise<boolean> {
  const { username, uid, groups, extra } = fieldsOf(object['spec'])
  const resourceAttributes = {
    group,
    resource: 'certificatesigningrequests',
    verb: 'create',
    subresource,
    version: '*',
  }
  const spec = { user: username, uid, groups, extra, resourceAttributes }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const response = await request(handle, { method: 'POST', path, body, signal })
  const answer = fieldsOf(objectOf(response))
  if (response.status >= FAILURE)
    throw new Error(textOf(answer['message']) || `${path} returned status ${response.status}`)
  return fieldsOf(answer['status'])['allowed'] === true
}

function approved(object: KubeObject, message: string): KubeObject {
  const status = fieldsOf(object['status'])
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message }
  return {
    ...object,
    status: { ...status, conditions: [...itemsOf(status['conditions']), condition] },
  }
}

const FAILURE = 400
