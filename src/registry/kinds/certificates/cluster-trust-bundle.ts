/**
 * Rules for ClusterTrustBundle, a set of CA certificates with or without a signer (gate
 * ClusterTrustBundle).
 */
import { X509Certificate } from 'node:crypto'
import { FAULTS_MAX, type FieldFault, invalidValue, tooLong } from '../../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { decodePem, type PemBlock } from '../../../lib/x509/pem.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateSigner } from '../../rules/signer.ts'

/** Maximum size of a bundle, as in kube-apiserver. */
const TRUST_BUNDLE_BYTES_MAX = 1024 * 1024

export const clusterTrustBundleRules: KindRules = {
  strategy: { gate: 'ClusterTrustBundle', names: 'any', needsResourceVersion: true },
  selectableFields: ['spec.signerName'],
  validate: () => [],
  // Validation runs in time slices, because a bundle can have thousands of certificates to parse.
  validateInSlices: (object, current, tools) =>
    inTurns((slice) => validate(object, current, slice), tools),
}

/** Validates a bundle. If the bundle is unchanged, it is valid and is not parsed again. */
function* validate(
  object: KubeObject,
  current: KubeObject | undefined,
  slice: Slice,
): Turns<FieldFault[]> {
  const isRead = current !== undefined && bundleOf(object) === bundleOf(current)
  const isSameSigner = current === undefined || signerOf(object) === signerOf(current)
  return [
    ...validateNames(object),
    ...(isRead ? [] : yield* validateBundle(bundleOf(object), slice)),
    ...(isSameSigner
      ? []
      : [invalidValue('spec.signerName', signerOf(object), 'field is immutable')]),
  ]
}

const bundleOf = (object: KubeObject): string => textOf(fieldsOf(object['spec'])['trustBundle'])
const signerOf = (object: KubeObject): string => textOf(fieldsOf(object['spec'])['signerName'])

function validateNames(object: KubeObject): FieldFault[] {
  const signer = signerOf(object)
  const { name = '', generateName = '' } = object.metadata
  const named = (path: string, text: string): FieldFault[] =>
    text === ''
      ? []
      : checkName(text.replace(/-$/, 'a'), signer).map((why) => invalidValue(path, text, why))
  return [
    ...named('metadata.generateName', generateName),
    ...(name === ''
      ? []
      : checkName(name, signer).map((why) => invalidValue('metadata.name', name, why))),
    ...(signer === '' ? [] : validateSigner(signer, 'spec.signerName')),
  ]
}

/**
 * Validates a name. If the bundle has a signer, the name must begin with the signer:
 * `example.com:signer:name`.
 */
function checkName(name: string, signer: string): readonly string[] {
  if (signer === '') {
    if (name.includes(':'))
      return ['ClusterTrustBundle without signer name must not have ":" in its name']
    return checkDnsSubdomain(name)
  }
  const prefix = `${signer.replaceAll('/', ':')}:`
  if (name.startsWith(prefix)) return checkDnsSubdomain(name.slice(prefix.length))
  return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`]
}

function* validateBundle(text: string, slice: Slice): Turns<FieldFault[]> {
  const path = 'spec.trustBundle'
  if (Buffer.byteLength(text) > TRUST_BUNDLE_BYTES_MAX)
    return [tooLong(path, TRUST_BUNDLE_BYTES_MAX)]
  const refused = (why: string): FieldFault => invalidValue(path, '<value omitted>', why)
  const blocks = decodePem(text)
  const faults: FieldFault[] = []
  for (const [at, block] of blocks.entries()) {
    if (slice.isOver()) yield undefined
    const why = blockFault(block)
    if (why !== undefined) faults.push(refused(`entry ${at} ${why}`))
    if (faults.length >= FAULTS_MAX) break
  }
  if (faults.length > 0) return faults
  if (blocks.length === 0) return [refused('at least one trust anchor must be provided')]
  return doubled(blocks).map((places) =>
    refused(`duplicate trust anchor (indices [${places.join(' ')}])`),
  )
}

function blockFault({ label, hasHeaders, bytes }: PemBlock): string | undefined {
  if (label !== 'CERTIFICATE') return `has bad block type: ${label}`
  if (hasHeaders) return 'has PEM block headers'
  try {
    return new X509Certificate(bytes).ca ? undefined : 'does not have the CA bit set'
  } catch {
    // The error of OpenSSL is not used, because the client receives kube-apiserver's message.
    return 'does not parse as X.509'
  }
}

/** Returns, for each certificate that occurs several times, the indexes at which it occurs. */
function doubled(blocks: readonly PemBlock[]): readonly (readonly number[])[] {
  const places = new Map<string, number[]>()
  for (const [at, { bytes }] of blocks.entries()) {
    const id = bytes.toString('base64')
    places.set(id, [...(places.get(id) ?? []), at])
  }
  return [...places.values()].filter(({ length }) => length > 1)
}
