/**
 * Rules for CertificateSigningRequest. Its spec is immutable, and records the request and the user
 * who created it. A write through /approval sets the decision, which is final. A write through
 * /status sets the certificate.
 */
import { X509Certificate } from 'node:crypto'
import {
  duplicate,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goBytes } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { User } from '../../../api/user.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { decodePem } from '../../../lib/x509/pem.ts'
import { readPemRequest, REQUEST_CHARACTERS_MAX, RequestError } from '../../../lib/x509/request.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateSigner } from '../../rules/signer.ts'
import { decisions, validateRequestConditions, withDecisions, withTimes } from './conditions.ts'

const EXPIRATION_SECONDS_MIN = 600
const legacySigner = 'kubernetes.io/legacy-unknown'
const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

export const certificateSigningRequestRules: KindRules = {
  strategy: {
    names: 'any',
    updateChecks: ['metadata', 'change', 'rules'],
    resetPaths: {
      '': ['spec', 'status'],
      status: ['spec', 'status.conditions'],
      approval: ['spec', 'status.certificate'],
    },
  },
  selectableFields: ['spec.signerName'],
  prepareCreate: (object, { user }) => ({
    ...object,
    spec: { ...fieldsOf(object['spec']), ...askedBy(user) },
  }),
  prepareUpdate: (object, { spec }) => withPart(object, 'spec', spec),
  validate,
  status: {
    prepareUpdate: (object, current, { now }) => {
      const conditions = withDecisions(conditionsOf(object), conditionsOf(current))
      return withConditions(object, withTimes(conditions, conditionsOf(current), now))
    },
    validateUpdate: (object, current) => [
      ...(isSameRequest(object, current)
        ? []
        : validateRequest(fieldsOf(object['spec'])['request'])),
      ...validateRest(object, isLegacy(current)),
      ...validateChange(object, current, { mayDecide: false }),
    ],
  },
  subresourceRules: {
    approval: {
      prepareUpdate: (object, current, { now }) => {
        const conditions = withTimes(conditionsOf(object), conditionsOf(current), now)
        const { spec, status } = current
        return withConditions(
          withPart(withPart(object, 'spec', spec), 'status', status),
          conditions,
        )
      },
      validateUpdate: (object, current) => [
        ...validateRequest(fieldsOf(object['spec'])['request']),
        ...validateRest(object, isLegacy(current)),
        ...validateChange(object, current, { mayDecide: true }),
      ],
    },
  },
}

/**
 * Returns the fields that identify the user. Absent fields are undefined, so that they overwrite
 * those in the request body.
 */
function askedBy({ name, uid, groups, extra }: User): Fields {
  return { username: name, uid: uid === '' ? undefined : uid, groups, extra }
}

const conditionsOf = (object: KubeObject): readonly Fields[] =>
  itemsOf(fieldsOf(object['status'])['conditions'])

function withPart(object: KubeObject, part: string, value: KubeObject[string]): KubeObject {
  const { [part]: _, ...rest } = object
  const { apiVersion, kind, metadata } = object
  return { ...rest, apiVersion, kind, metadata, ...(value === undefined ? {} : { [part]: value }) }
}

function withConditions(object: KubeObject, conditions: readonly Fields[]): KubeObject {
  const { conditions: _, ...rest } = fieldsOf(object['status'])
  return withPart(object, 'status', conditions.length === 0 ? rest : { ...rest, conditions })
}

function validate(object: KubeObject): FieldFault[] {
  return [...validateRequest(fieldsOf(object['spec'])['request']), ...validateRest(object, false)]
}

/**
 * Whether the certificate request in `spec.request` is unchanged. Writes through /status do not
 * validate an unchanged certificate request. They can then set the Failed condition even if the
 * request can no longer be parsed.
 */
const isSameRequest = (object: KubeObject, current: KubeObject): boolean =>
  fieldsOf(object['spec'])['request'] === fieldsOf(current['spec'])['request']

const isLegacy = ({ spec }: KubeObject): boolean =>
  textOf(fieldsOf(spec)['signerName']) === legacySigner

/**
 * Validates all fields except `spec.request`. If `mayBeLegacy` is true, the stored object has the
 * legacy signer name, and can keep it.
 */
function validateRest(object: KubeObject, mayBeLegacy: boolean): FieldFault[] {
  const { expirationSeconds, signerName } = fieldsOf(object['spec'])
  const { certificate } = fieldsOf(object['status'])
  const isShort =
    typeof expirationSeconds === 'number' && expirationSeconds < EXPIRATION_SECONDS_MIN
  const why = `may not specify a duration less than ${EXPIRATION_SECONDS_MIN} seconds (10 minutes)`
  return [
    ...validateUsages(textsOf(fieldsOf(object['spec'])['usages'])),
    ...(mayBeLegacy && textOf(signerName) === legacySigner
      ? []
      : validateNewSigner(textOf(signerName))),
    ...(isShort ? [invalidValue('spec.expirationSeconds', expirationSeconds, why)] : []),
    ...validateRequestConditions(conditionsOf(object)),
    ...(textOf(certificate) === '' ? [] : validateCertificate(textOf(certificate))),
  ]
}

/** Maximum number of characters of a request that an error message shows. */
const SHOWN_CHARACTERS_MAX = 1024

function validateRequest(request: Fields[string]): FieldFault[] {
  const base64 = typeof request === 'string' ? request : undefined
  // Truncate a request that is too long, because the error prints each of its bytes with six
  // characters.
  const shown =
    (base64?.length ?? 0) > REQUEST_CHARACTERS_MAX ? base64?.slice(0, SHOWN_CHARACTERS_MAX) : base64
  const refuse = (why: string): FieldFault[] => [invalidShown('spec.request', goBytes(shown), why)]
  try {
    readPemRequest(base64 ?? '')
    return []
  } catch (error) {
    if (error instanceof RequestError) return refuse(error.message)
    throw error
  }
}

function validateUsages(given: readonly string[]): FieldFault[] {
  if (given.length === 0) return [required('spec.usages')]
  const repeats = repeatsIn(given)
  return faultsOfEach(given, (usage, at) => {
    const path = `spec.usages[${at}]`
    return [
      ...(usages.includes(usage) ? [] : [notSupported(path, usage, usages)]),
      ...(repeats.has(at) ? [duplicate(path, usage)] : []),
    ]
  })
}

/** Validates the signer name, which must not be the legacy name. */
function validateNewSigner(signer: string): FieldFault[] {
  const path = 'spec.signerName'
  if (signer !== legacySigner) return validateSigner(signer, path)
  return [invalidValue(path, signer, 'the legacy signerName is not allowed via this API version')]
}

function validateCertificate(base64: string): FieldFault[] {
  const why = certificateFault(Buffer.from(base64, 'base64').toString('latin1'))
  return why === undefined ? [] : [invalidValue('status.certificate', '<certificate data>', why)]
}

function certificateFault(text: string): string | undefined {
  const blocks = decodePem(text)
  for (const { label, hasHeaders, bytes } of blocks) {
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found "${label}"`
    if (hasHeaders) return 'no PEM block headers are permitted'
    if (!isCertificate(bytes)) return 'x509: malformed certificate'
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).subject !== null
  } catch {
    // The error of OpenSSL is not used, because the client receives kube-apiserver's message.
    return false
  }
}

const has = (conditions: readonly Fields[], type: string): boolean =>
  conditions.some((condition) => condition['type'] === type)

/** Refuses to change a decision or an issued certificate. */
function validateChange(
  object: KubeObject,
  current: KubeObject,
  { mayDecide }: { readonly mayDecide: boolean },
): FieldFault[] {
  const [given, before] = [conditionsOf(object), conditionsOf(current)]
  const faults: FieldFault[] = []
  const refuse = (what: string, type: string): void => {
    faults.push(
      forbiddenField('status.conditions', `updates may not ${what} a condition of type "${type}"`),
    )
  }
  for (const type of [...decisions, 'Failed']) {
    if (has(before, type) && !has(given, type)) refuse('remove', type)
    if (!mayDecide && type !== 'Failed' && has(given, type) && !has(before, type))
      refuse('add', type)
  }
  const [certificate, issued] = [object, current].map(({ status }) =>
    textOf(fieldsOf(status)['certificate']),
  )
  if (issued !== '' && certificate !== issued) {
    const why = 'updates may not modify existing certificate content'
    faults.push(forbiddenField('status.certificate', why))
  }
  return faults
}
