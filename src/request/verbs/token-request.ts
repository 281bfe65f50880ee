/**
 * TokenRequest: issues a token for a service account, optionally bound to a pod, a secret or a
 * node. The request is not stored.
 */
import { type ServiceAccountClaims, type ObjectClaim } from '../../api/service-account-claims.ts'
import type { Gates } from '../../api/gates.ts'
import { badRequest, conflict, invalid, notFound, unclassified } from '../../api/errors.ts'
import { invalidValue } from '../../api/field-fault.ts'
import { checkPathSegment } from '../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  type KubeObject,
  numberOf,
  omit,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { ApiResponse } from '../../api/request.ts'
import { accountUserName } from '../../api/service-account.ts'
import { messageOf } from '../../lib/errors.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { validateTokenLifetime } from '../../registry/rules/token.ts'
import { asTokenRequest, tokenRequestKind } from '../../registry/token-request.ts'
import type { WriteAccess } from './access.ts'
import { readReview } from './reviews/question.ts'
import { validateAudiences } from './reviews/token-review.ts'

/**
 * Value of expirationSeconds in the token volume that the ServiceAccount admission plugin adds to
 * pods.
 */
const KUBELET_SECONDS = 3607

export type TokenRequestOptions = {
  readonly gates: Gates
  readonly issuer: string
  /** The server's own audiences, for requests without audiences. */
  readonly audiences: readonly string[]
  readonly secondsMax: number | null
  /**
   * Actual lifetime in seconds of tokens that kubelets request. It is longer than the lifetime that
   * the response states. Null if lifetimes are not extended.
   */
  readonly extendedSeconds: number | null
  /** Signs the claims. Can fail if an external signer is configured. */
  readonly sign: (claims: ServiceAccountClaims) => MaybePromise<string>
  /** Reads the current state of an object in the core group. */
  readonly read: (
    plural: string,
    namespace: string,
    name: string,
  ) => Promise<KubeObject | undefined>
  readonly wallMs: () => number
}

export const createTokenRequest =
  (options: TokenRequestOptions) =>
  async (request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> => {
    const { resource, namespace, name } = request
    const {
      object: sent,
      validate,
      respond,
    } = await readReview(request, access, {
      shown: asTokenRequest(resource),
      validateSize: validateAudiences,
    })
    refuseOther(sent, { namespace, name })
    const account = await options.read(resource.plural, namespace, name)
    if (account === undefined) throw notFound(resource, name)
    const uid = checkUid(sent, account, { request, gates: options.gates })
    const given = textsOf(fieldsOf(sent['spec'])['audiences'])
    const audiences = given.length === 0 ? options.audiences : given
    const spec: Fields = { ...fieldsOf(sent['spec']), audiences }
    const { status: _, ...question } = sent
    const metadata = {
      ...omit(sent.metadata, 'uid'),
      ...uid,
      name,
      namespace,
      creationTimestamp: access.now(),
    }
    const object: KubeObject = { ...question, metadata, spec }
    const faults = validateTokenLifetime('spec.expirationSeconds', spec['expirationSeconds'])
    if (faults.length > 0) throw invalid(tokenRequestKind, '', faults)
    await validate(object)
    const bound = await findBound(spec['boundObjectRef'], { account, namespace, options })
    const seconds = secondsOf(numberOf(spec['expirationSeconds']), request, options)
    const nowSeconds = Math.floor(options.wallMs() / 1000)
    const extendedSeconds = isForKubelet(seconds, { bound, audiences, options })
      ? options.extendedSeconds
      : null
    const jti = access.ids.uid()
    const token = await sign(options, {
      aud: audiences,
      exp: nowSeconds + (extendedSeconds ?? seconds),
      iat: nowSeconds,
      iss: options.issuer,
      jti,
      'kubernetes.io': {
        namespace,
        ...bound,
        serviceaccount: claimOf(account),
        ...(extendedSeconds === null ? {} : { warnafter: nowSeconds + seconds }),
      },
      nbf: nowSeconds,
      sub: accountUserName({ namespace, name }),
    })
    request.context.annotate('authentication.kubernetes.io/issued-credential-id', `JTI=${jti}`)
    return respond({
      ...object,
      spec: { ...spec, expirationSeconds: seconds },
      status: { token, expirationTimestamp: timestamp(nowSeconds + seconds) },
    })
  }

async function sign(
  { sign: signClaims }: TokenRequestOptions,
  claims: ServiceAccountClaims,
): Promise<string> {
  try {
    return await signClaims(claims)
  } catch (error) {
    throw unclassified(`failed to generate token: ${messageOf(error)}`, error)
  }
}

const timestamp = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

function refuseOther(
  { metadata }: KubeObject,
  account: { readonly namespace: string; readonly name: string },
): void {
  for (const field of ['name', 'namespace'] as const) {
    const given = metadata[field] ?? ''
    if (given === '' || given === account[field]) continue
    const fault = invalidValue(
      `metadata.${field}`,
      given,
      `must match the service account ${field} if specified`,
    )
    throw invalid(tokenRequestKind, account.name, [fault])
  }
}

/** The first release that validates the UID of a request, and sets it. */
const UIDS_SINCE = 34

/** Validates the UID of the account in a request. Returns the UID for the response. */
function checkUid(
  { metadata }: KubeObject,
  account: KubeObject,
  { request, gates }: { readonly request: ResourceRequest; readonly gates: Gates },
): { readonly uid?: string } {
  if (gates.release < UIDS_SINCE) return {}
  const { uid = '' } = account.metadata
  const given = metadata.uid ?? ''
  if (given === '' || given === uid) return { uid }
  const why = `the UID in the token request (${given}) does not match the UID of the service account (${uid})`
  const gate = 'TokenRequestServiceAccountUIDValidation'
  if (gates.isOn(gate)) {
    const { group, kind } = tokenRequestKind
    throw conflict({ group, plural: kind }, account.metadata.name ?? '', why)
  }
  request.context.annotate('authentication.k8s.io/token-request-uid-mismatch', why)
  request.context.warn(
    `${why} but ${gate} is not enabled. In the future, this will return a conflict error`,
  )
  return { uid: given }
}

type BoundClaims = Pick<ServiceAccountClaims['kubernetes.io'], 'node' | 'pod' | 'secret'>

type Binding = {
  readonly account: KubeObject
  readonly namespace: string
  readonly options: TokenRequestOptions
}

async function findBound(reference: Fields[string], binding: Binding): Promise<BoundClaims> {
  if (reference === undefined || reference === null) return {}
  const { apiVersion, kind, name, uid } = fieldsOf(reference)
  const [version = '', group = ''] = textOf(apiVersion).split('/').toReversed()
  const isCore = group === ''
  if (isCore && (kind === 'Pod' || kind === 'Secret' || kind === 'Node')) refuseName(textOf(name))
  const object =
    isCore && kind === 'Pod'
      ? await findPod(textOf(name), binding)
      : isCore && (kind === 'Secret' || kind === 'Node')
        ? await findPlain(kind, textOf(name), binding)
        : undefined
  if (object === undefined)
    throw badRequest(
      `cannot bind token to object of type ${group}/${version}, Kind=${textOf(kind)}`,
    )
  if (textOf(uid) !== '' && uid !== object.found.metadata.uid) {
    const why = `the UID in the bound object reference (${textOf(uid)}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group, plural: textOf(kind) }, textOf(name), why)
  }
  return object.claims
}

function refuseName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.')
  const [why] = checkPathSegment(name)
  if (why !== undefined) throw badRequest(`Name parameter invalid: ${quote(name)}: ${why}`)
}

type BoundObject = { readonly found: KubeObject; readonly claims: BoundClaims }

/**
 * Finds the pod and, if the pod is assigned to a node, that node. A node that does not exist has no
 * uid.
 */
async function findPod(
  name: string,
  { account, namespace, options }: Binding,
): Promise<BoundObject> {
  const found = await options.read('pods', namespace, name)
  if (found === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  const { nodeName, serviceAccountName } = fieldsOf(found['spec'])
  const accountName = account.metadata.name ?? ''
  if (serviceAccountName !== accountName) {
    throw badRequest(
      `cannot bind token for serviceaccount "${accountName}" to pod running with different serviceaccount name.`,
    )
  }
  const host = textOf(nodeName)
  if (host === '') return { found, claims: { pod: claimOf(found) } }
  const node = await options.read('nodes', '', host)
  return {
    found,
    claims: { node: node === undefined ? { name: host } : claimOf(node), pod: claimOf(found) },
  }
}

async function findPlain(
  kind: 'Secret' | 'Node',
  name: string,
  { namespace, options }: Binding,
): Promise<BoundObject> {
  const plural = kind === 'Secret' ? 'secrets' : 'nodes'
  const found = await options.read(plural, kind === 'Secret' ? namespace : '', name)
  if (found === undefined) throw notFound({ group: '', plural }, name)
  const claim = claimOf(found)
  return { found, claims: kind === 'Secret' ? { secret: claim } : { node: claim } }
}

const claimOf = ({ metadata }: KubeObject): ObjectClaim => ({
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
})

function secondsOf(
  asked: number,
  { context }: ResourceRequest,
  { secondsMax }: TokenRequestOptions,
): number {
  if (secondsMax === null || asked <= secondsMax) return asked
  context.warn(`requested expiration of ${asked} seconds shortened to ${secondsMax} seconds`)
  return secondsMax
}

/**
 * Whether the token gets a longer lifetime than the response states. Clients that never reload
 * their token then continue to work.
 */
function isForKubelet(
  seconds: number,
  {
    bound,
    audiences,
    options,
  }: {
    readonly bound: BoundClaims
    readonly audiences: readonly string[]
    readonly options: TokenRequestOptions
  },
): boolean {
  if (options.extendedSeconds === null || seconds !== KUBELET_SECONDS || bound.pod === undefined)
    return false
  // Bounded: the server has only a few audiences, so each search is short.
  return audiences.every((audience) => options.audiences.includes(audience))
}
