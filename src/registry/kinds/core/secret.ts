import { createPrivateKey, X509Certificate } from 'node:crypto'
import {
  type FieldFault,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { JsonMap } from '../../../api/json-map.ts'
import { jsonFault } from '../../../api/json-scanner.ts'
import { checkConfigKey } from '../../../api/names.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import { eachKey } from '../../../lib/scheduling/parts.ts'
import type { KindRules } from '../../kind-rules.ts'
import { without } from '../../object-parts.ts'
import { isEqualAs } from '../../rules/equality.ts'

/** Maximum total size of all values of a Secret. */
const VALUES_BYTES_MAX = 1024 * 1024

const accountAnnotation = 'kubernetes.io/service-account.name'

export const secretRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'] },
  selectableFields: ['type'],
  setDefaults: (object) => withStringData({ ...object, type: object['type'] ?? 'Opaque' }),
  validate,
  validateUpdate: (object, current) => [
    ...validateType(object, current),
    ...validateImmutable(object, current),
    ...validate(object),
  ],
  warnings: (object) => keyPairWarnings(object),
}

/** Merges stringData into data. Clients can write stringData, but not read it. */
function withStringData(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object
  const texts = fieldsOf(stringData)
  const { data } = eachKey('stringData of Secret', texts, newMerged, (merged, key) => {
    merged.data ??= Object.assign(new JsonMap(), fieldsOf(object['data']))
    merged.data[key] = Buffer.from(textAt(texts, key)).toString('base64')
    return true
  })
  if (data === undefined) return without(object, 'stringData')
  return {
    ...rest,
    kind: object.kind,
    apiVersion: object.apiVersion,
    metadata: object.metadata,
    data,
  }
}

const newMerged = (): { data: JsonMap | undefined } => ({ data: undefined })

function validate(object: KubeObject): FieldFault[] {
  const data = fieldsOf(object['data'])
  const { faults, bytes } = eachKey('data of Secret', data, newFound, (found, key) => {
    for (const fault of checkConfigKey(key))
      found.faults.push(invalidValue(`data[${key}]`, key, fault))
    found.bytes += Buffer.byteLength(textAt(data, key), 'base64')
    return true
  })
  const tooMuch = bytes > VALUES_BYTES_MAX ? [tooLong('data', VALUES_BYTES_MAX)] : []
  return [...faults, ...tooMuch, ...validateContent(object, data)]
}

const newFound = (): { readonly faults: FieldFault[]; bytes: number } => ({ faults: [], bytes: 0 })

/** Validates the required content of well-known Secret types. */
function validateContent({ type, metadata }: KubeObject, data: Fields): FieldFault[] {
  const has = (key: string): boolean => Object.hasOwn(data, key)
  const need = (key: string): FieldFault[] => (has(key) ? [] : [required(`data[${key}]`)])
  switch (typeof type === 'string' ? type : '') {
    case 'kubernetes.io/service-account-token': {
      const account = metadata.annotations?.[accountAnnotation] ?? ''
      return account === '' ? [required(`metadata.annotations[${accountAnnotation}]`)] : []
    }
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson')
    case 'kubernetes.io/basic-auth':
      return has('username') || has('password') ? [] : [...need('username'), ...need('password')]
    case 'kubernetes.io/ssh-auth':
      return textAt(data, 'ssh-privatekey') === '' ? [required('data[ssh-privatekey]')] : []
    case 'kubernetes.io/tls':
      return [...need('tls.crt'), ...need('tls.key')]
    default:
      return []
  }
}

function validateJson(data: Fields, key: string): FieldFault[] {
  if (!Object.hasOwn(data, key)) return [required(`data[${key}]`)]
  const fault = jsonFault(Buffer.from(textAt(data, key), 'base64').toString('utf8'), 'object')
  return fault === undefined
    ? []
    : [invalidValue(`data[${key}]`, '<secret contents redacted>', fault)]
}

/**
 * Warns if the certificate and key of a TLS Secret do not match. The wording of the warnings is
 * that of Go's crypto/tls.
 */
function keyPairWarnings(object: KubeObject): string[] {
  if (object['type'] !== 'kubernetes.io/tls') return []
  const data = fieldsOf(object['data'])
  const certificate = Buffer.from(textAt(data, 'tls.crt'), 'base64').toString('latin1')
  const key = Buffer.from(textAt(data, 'tls.key'), 'base64').toString('latin1')
  if (!/-----BEGIN [^-]+-----/.test(certificate))
    return ['tls: failed to find any PEM data in certificate input']
  if (!/-----BEGIN [^-]+-----/.test(key)) return ['tls: failed to find any PEM data in key input']
  return isPair(certificate, key) ? [] : ['tls: private key does not match public key']
}

/** Whether a certificate and a key match. Returns true if one of them cannot be parsed. */
function isPair(certificatePem: string, keyPem: string): boolean {
  try {
    return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))
  } catch {
    // If the certificate or the key cannot be parsed, do not warn about a mismatch.
    return true
  }
}

function validateType(object: KubeObject, current: KubeObject): FieldFault[] {
  const { type } = object
  if (type === current['type']) return []
  return [invalidValue('type', typeof type === 'string' ? type : '', 'field is immutable')]
}

function validateImmutable(object: KubeObject, current: KubeObject): FieldFault[] {
  if (current['immutable'] !== true) return []
  const frozen = 'field is immutable when `immutable` is set'
  const faults: FieldFault[] = []
  if (object['immutable'] !== true) faults.push(forbiddenField('immutable', frozen))
  if (!isEqualAs('core/v1 Secret', { data: object['data'] }, { data: current['data'] }, 'exact'))
    faults.push(forbiddenField('data', frozen))
  return faults
}

function textAt(data: Fields, key: string): string {
  const value = Object.hasOwn(data, key) ? data[key] : ''
  return typeof value === 'string' ? value : ''
}
