/**
 * Admission plugins for certificates. They check which users may approve or sign
 * CertificateSigningRequests and attest the ClusterTrustBundles of a signer, and they reject
 * forbidden subjects.
 */
import { type Fields, fieldsOf, type KubeObject, omit, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { mastersGroup, type User } from '../api/user.ts'
import { readPemRequest, RequestError } from '../lib/x509/request.ts'
import { isSame } from '../objects/schema/equal.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'

/** The user whose access is checked. `signal` aborts the check when the request ends. */
export type Requester = { readonly user: User; readonly signal: AbortSignal }

/**
 * Resolves to whether the user has the permission that `action` describes. Plugins check such
 * permissions in addition to the permission for the request itself.
 */
export type MayDo = (
  context: Requester,
  action: {
    readonly verb: string
    readonly group: string
    readonly plural: string
    readonly name: string
  },
) => Promise<boolean>

const group = 'certificates.k8s.io'
const requests = `certificatesigningrequests.${group}`

/**
 * Resolves to whether the user may use the signer. A user can be granted access to a single signer,
 * or to all signers of a domain.
 */
async function mayUseSigner(
  mayDo: MayDo,
  context: Requester,
  { verb, signer }: { readonly verb: string; readonly signer: string },
): Promise<boolean> {
  const [domain = ''] = signer.split('/')
  for (const name of [signer, `${domain}/*`]) {
    if (await mayDo(context, { verb, group, plural: 'signers', name })) return true
  }
  return false
}

function createSignerCheck(
  mayDo: MayDo,
  verb: 'approve' | 'sign',
): (attributes: Attributes) => Promise<void> {
  return async (attributes) => {
    const { context, oldObject } = attributes
    const signer = textOf(fieldsOf(oldObject?.['spec'])['signerName'])
    if (await mayUseSigner(mayDo, context, { verb, signer })) return
    throw refusal(
      attributes,
      `user not permitted to ${verb} requests with signerName ${quote(signer)}`,
    )
  }
}

export function createCertificateApproval(mayDo: MayDo): Plugin {
  const check = createSignerCheck(mayDo, 'approve')
  return {
    name: 'CertificateApproval',
    resources: new Set([requests]),
    validate: async (attributes) => {
      if (attributes.operation === 'UPDATE' && targetOf(attributes) === `${requests}/approval`)
        await check(attributes)
    },
  }
}

export function createCertificateSigning(mayDo: MayDo): Plugin {
  const check = createSignerCheck(mayDo, 'sign')
  return {
    name: 'CertificateSigning',
    resources: new Set([requests]),
    validate: async (attributes) => {
      const { operation, object, oldObject } = attributes
      if (operation !== 'UPDATE' || targetOf(attributes) !== `${requests}/status`) return
      const [status, before] = [fieldsOf(object?.['status']), fieldsOf(oldObject?.['status'])]
      const isSigned = !['certificate', 'conditions'].every((field) =>
        isSame(status[field], before[field]),
      )
      if (isSigned) await check(attributes)
    },
  }
}

const bundles = `clustertrustbundles.${group}`

/**
 * Requires the `attest` verb on a signer to write a ClusterTrustBundle of that signer. The bundle
 * states which certificates belong to the signer.
 */
export function createClusterTrustBundleAttest(mayDo: MayDo): Plugin {
  return {
    name: 'ClusterTrustBundleAttest',
    resources: new Set([bundles]),
    validate: async (attributes) => {
      const { operation, object, oldObject, context } = attributes
      if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return
      const signer = textOf(fieldsOf(object['spec'])['signerName'])
      if (signer === '' || (oldObject !== undefined && isSame(lasting(object), lasting(oldObject))))
        return
      if (await mayUseSigner(mayDo, context, { verb: 'attest', signer })) return
      throw refusal(attributes, `user not permitted to attest for signerName ${quote(signer)}`)
    },
  }
}

/**
 * Returns the object without the fields that the garbage collector or a storage migration may
 * change.
 */
const lasting = (object: KubeObject): Fields => ({
  ...object,
  metadata: omit(
    object.metadata,
    'finalizers',
    'ownerReferences',
    'managedFields',
    'resourceVersion',
  ),
})

/**
 * Signer of client certificates with which users authenticate to the API server. These certificates
 * must not make a user a member of system:masters.
 */
const clientSigner = 'kubernetes.io/kube-apiserver-client'

export const certificateSubjectRestriction: Plugin = {
  name: 'CertificateSubjectRestriction',
  resources: new Set([requests]),
  validate: (attributes) => {
    const { operation, object } = attributes
    if (object === undefined || operation !== 'CREATE' || targetOf(attributes) !== requests) return
    if (fieldsOf(object['spec'])['signerName'] !== clientSigner) return
    if (!organizationsOf(object, attributes).includes(mastersGroup)) return
    throw refusal(
      attributes,
      `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`,
    )
  },
}

function organizationsOf({ spec }: KubeObject, attributes: Attributes): readonly string[] {
  try {
    return readPemRequest(textOf(fieldsOf(spec)['request'])).organizations
  } catch (error) {
    // Validation has already parsed the CSR, so this fails only if validation is less strict than
    // this parser.
    if (!(error instanceof RequestError)) throw error
    throw refusal(attributes, `failed to parse CSR: ${error.message}`)
  }
}
