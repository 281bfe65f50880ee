/**
 * Computes the status that a CustomResourceDefinition should have, from its content and from the
 * names of other definitions.
 */
import { X509Certificate } from 'node:crypto'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { type Names, readNames } from '../registry/custom/crd.ts'
import { nonStructural } from '../registry/kinds/apiextensions/non-structural.ts'
import { acceptNames, type Claim, type NamesInUse } from './crd-names.ts'

export type Condition = {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/**
 * Returns the object with its next status, or undefined if the status is already right. One write
 * sets the condition NamesAccepted, and the next write sets Established.
 */
export function nextStatus(
  object: KubeObject,
  inUse: NamesInUse,
  now: string,
): KubeObject | undefined {
  const before = readNames(fieldsOf(fieldsOf(object['status'])['acceptedNames']))
  const { names, conflict } = acceptNames(
    { owner: object.metadata.name ?? '', ...claimOf(object) },
    inUse,
  )
  const isFirst = conditionOf(object, 'NamesAccepted') === undefined
  const accepted: Condition =
    conflict === undefined
      ? {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
        }
      : { type: 'NamesAccepted', status: 'False', ...conflict }
  const approval = approvalOf(object)
  const wanted = [
    accepted,
    establishedOf(object, { isFirst, isAccepted: conflict === undefined }),
    ...approval,
  ]
  const changed = wanted.filter((condition) => !isSet(object, condition))
  if (changed.length === 0 && JSON.stringify(names) === JSON.stringify(before))
    return withStructural(object, now)
  return withStatus(object, { acceptedNames: printNames(names) }, { conditions: changed, now })
}

/**
 * Returns the accepted names of a definition (status.acceptedNames), and the names that it requests
 * (spec.names).
 */
export function claimOf(object: KubeObject): Claim {
  const spec = fieldsOf(object['spec'])
  return {
    group: textOf(spec['group']),
    accepted: readNames(fieldsOf(fieldsOf(object['status'])['acceptedNames'])),
    wanted: readNames(fieldsOf(spec['names'])),
    revision: Number(object.metadata.resourceVersion),
  }
}

/**
 * Sets or removes the NonStructuralSchema condition. Returns undefined if the condition is already
 * right. This is the slowest check, because it visits all schemas, so it is the last one.
 */
function withStructural(object: KubeObject, now: string): KubeObject | undefined {
  const type = 'NonStructuralSchema'
  const message = nonStructural(fieldsOf(object['spec']))
  if (message !== undefined) {
    const condition: Condition = { type, status: 'True', reason: 'Violations', message }
    return isSet(object, condition)
      ? undefined
      : withStatus(object, {}, { conditions: [condition], now })
  }
  const reported = conditionOf(object, type)
  if (reported === undefined) return undefined
  const status = fieldsOf(object['status'])
  return {
    ...object,
    status: {
      ...status,
      conditions: itemsOf(status['conditions']).filter((one) => one !== reported),
    },
  }
}

/**
 * Returns the Established condition. It becomes true in the write after the one that sets
 * NamesAccepted. By then, the objects can already be served.
 */
function establishedOf(
  object: KubeObject,
  { isFirst, isAccepted }: { readonly isFirst: boolean; readonly isAccepted: boolean },
): Condition {
  const type = 'Established'
  const message = 'the initial names have been accepted'
  const isEstablished = conditionOf(object, type)?.['status'] === 'True'
  if (isEstablished) return { type, status: 'True', reason: 'InitialNamesAccepted', message }
  if (!isAccepted)
    return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  const wasAccepted = !isFirst && conditionOf(object, 'NamesAccepted')?.['status'] === 'True'
  if (!wasAccepted) return { type, status: 'False', reason: 'Installing', message }
  if (hasReadableCa(object))
    return { type, status: 'True', reason: 'InitialNamesAccepted', message }
  return {
    type,
    status: 'False',
    reason: 'InvalidCABundle',
    message: 'The conversion webhook CABundle is invalid',
  }
}

function hasReadableCa(object: KubeObject): boolean {
  const { webhook } = fieldsOf(fieldsOf(object['spec'])['conversion'])
  const caBundle = textOf(fieldsOf(fieldsOf(webhook)['clientConfig'])['caBundle'])
  if (caBundle === '') return true
  try {
    return new X509Certificate(Buffer.from(caBundle, 'base64')).subject !== ''
  } catch {
    return false
  }
}

const approvalAnnotation = 'api-approved.kubernetes.io'

/**
 * Returns the KubernetesAPIApprovalPolicyConformant condition, which exists only for groups under
 * k8s.io and kubernetes.io.
 */
function approvalOf({ metadata, ...object }: KubeObject): readonly Condition[] {
  const group = textOf(fieldsOf(object['spec'])['group'])
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(group)) return []
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const text = metadata.annotations?.[approvalAnnotation] ?? ''
  const policy = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (text === '') {
    const message = `protected groups must have approval annotation "${approvalAnnotation}", ${policy}`
    return [{ type, status: 'False', reason: 'MissingAnnotation', message }]
  }
  if (text.startsWith('unapproved')) {
    return [
      {
        type,
        status: 'False',
        reason: 'UnapprovedAnnotation',
        message: `not approved: ${quote(text)}`,
      },
    ]
  }
  if (URL.canParse(text))
    return [{ type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${text}` }]
  const message = `protected groups must have approval annotation "${approvalAnnotation}" with either a URL or a reason starting with "unapproved", ${policy}`
  return [{ type, status: 'False', reason: 'InvalidAnnotation', message }]
}

export function conditionOf(object: KubeObject, type: string): Fields | undefined {
  return itemsOf(fieldsOf(object['status'])['conditions']).find(
    (condition) => condition['type'] === type,
  )
}

export const isTrue = (object: KubeObject, type: string): boolean =>
  conditionOf(object, type)?.['status'] === 'True'

function isSet(object: KubeObject, wanted: Condition): boolean {
  const found = conditionOf(object, wanted.type)
  return (
    found?.['status'] === wanted.status &&
    found['reason'] === wanted.reason &&
    found['message'] === wanted.message
  )
}

/**
 * Returns the object with these status fields and conditions. The lastTransitionTime of a condition
 * changes only if the status of the condition changes.
 */
export function withStatus(
  object: KubeObject,
  fields: Fields,
  { conditions, now }: { readonly conditions: readonly Condition[]; readonly now: string },
): KubeObject {
  const status = fieldsOf(object['status'])
  let all: readonly Fields[] = itemsOf(status['conditions'])
  for (const condition of conditions) {
    // Bounded: a CRD has only a few conditions, so each search is short
    const before = all.find(({ type }) => type === condition.type)
    const lastTransitionTime =
      before?.['status'] === condition.status ? (before['lastTransitionTime'] ?? now) : now
    const next: Fields = { ...condition, lastTransitionTime }
    all = before === undefined ? [...all, next] : all.map((one) => (one === before ? next : one))
  }
  return { ...object, status: { ...status, ...fields, conditions: all } }
}

function printNames({ plural, singular, kind, listKind, shortNames, categories }: Names): Fields {
  const lists: { [name: string]: Json } = {}
  if (shortNames.length > 0) lists['shortNames'] = shortNames
  if (categories.length > 0) lists['categories'] = categories
  return { plural, singular, kind, listKind, ...lists }
}
