/**
 * Rules for resource claims of a Pod (gate DynamicResourceAllocation): the claims themselves, the
 * containers that use them, and their status.
 */
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidUnquoted,
  invalidValue,
  notSupported,
  notThere,
  required,
} from '../../../../api/field-fault.ts'
import { goPointer, goStruct } from '../../../../api/go-value.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { addKey, firstBy, keysOf } from '../../../../lib/scheduling/long-lists.ts'
import { once } from '../../../../lib/scheduling/parts.ts'
import { sortInParts } from '../../../../lib/scheduling/sort-in-parts.ts'
import { eachIn, type Rule } from '../../../rules/rule.ts'
import type { PodCheck, PodRule } from './check.ts'

export function podClaims(spec: Fields, path: string, check: PodCheck): void {
  const names = once('names of resource claims', () => new Set<string>())
  eachIn(itemsOf(spec['resourceClaims']), check, (claim, at, { faults, isStatic }) => {
    if (isStatic) {
      faults.push(forbiddenField('[]', 'static pods do not support resource claims'))
      return
    }
    const own = `${path}[${at}]`
    const name = textOf(claim['name'])
    if (name === '') faults.push(required(`${own}.name`))
    else if (!addKey(names, name)) faults.push(duplicate(`${own}.name`, name))
    else faults.push(...checked(`${own}.name`, name, checkDnsLabel))
    faults.push(...validateSource(claim, own))
  })
}

const sources = ['resourceClaimName', 'resourceClaimTemplateName'] as const

/** Validates the source of a claim, which must be exactly one of the fields in `sources`. */
function validateSource(claim: Fields, path: string): FieldFault[] {
  const given = sources.filter((name) => claim[name] !== undefined)
  const faults = faultsOfEach(given, (name) =>
    checked(`${path}.${name}`, textOf(claim[name]), checkDnsSubdomain),
  )
  if (given.length === 1) return faults
  const shown = goStruct('core.PodResourceClaim', {
    Name: quote(textOf(claim['name'])),
    ResourceClaimName: goPointer('string', claim['resourceClaimName'] !== undefined),
    ResourceClaimTemplateName: goPointer(
      'string',
      claim['resourceClaimTemplateName'] !== undefined,
    ),
  })
  const why =
    given.length === 0
      ? 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
      : 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
  const value = { type: 'core.PodResourceClaim', json: claim }
  return [invalidShown(path, shown, why, value), ...faults]
}

export function claimsOf(spec: Fields): PodCheck['claims'] {
  const names = keysOf(itemsOf(spec['resourceClaims']), ({ name }) => textOf(name))
  if (names.size === 0) return { names, shown: ' which is empty' }
  const sorted = sortInParts('sorted claims', [...names], (one, other) => (one < other ? -1 : 1))
  return { names, shown: once('shown claims', () => `: ${sorted.join(', ')}`) }
}

/**
 * Rule for the claims that a container uses. A container can use either a whole claim, or single
 * requests of the claim.
 */
export const usedClaims: PodRule = (value, path, check) => {
  const used = once('used claims', () => new Set<string>())
  /** Claims of which the container uses single requests. */
  const parted = once('claims that are used in part', () => new Set<string>())
  eachIn(itemsOf(value), check, (item, at, { faults, claims }) => {
    const own = `${path}[${at}]`
    const name = textOf(item['name'])
    const request = textOf(item['request'])
    if (name === '') {
      faults.push(required(own))
      return
    }
    const key = request === '' ? name : `${name}/${request}`
    if (used.has(name)) faults.push(duplicate(own, name))
    else {
      if (request !== '') faults.push(...checked(`${own}.request`, request, checkDnsLabel))
      if (used.has(key)) faults.push(duplicate(own, key))
      else if (request === '' && parted.has(name)) faults.push(duplicate(own, name))
      used.add(key)
      if (request !== '') parted.add(name)
    }
    if (!claims.names.has(name)) faults.push(unknownClaim(own, name, claims.shown))
  })
}

function unknownClaim(path: string, name: string, shown: string): FieldFault {
  const fault = notThere(path, name)
  return {
    ...fault,
    message: `${fault.message}: must be one of the names in pod.spec.resourceClaims${shown}`,
  }
}

/**
 * Validates the names of the claims that were created for a Pod. As in kube-apiserver, an error in
 * `resourceClaimName` has the path of `name`.
 */
export function validateClaimStatuses(status: Fields, spec: Fields): FieldFault[] {
  const claims = keysOf(itemsOf(spec['resourceClaims']), ({ name }) => name)
  const seen = once('statuses of claims', () => new Set<string>())
  return faultsOfEach(
    itemsOf(status['resourceClaimStatuses']),
    ({ name, resourceClaimName }, at) => {
      const path = `status.resourceClaimStatuses[${at}].name`
      const isRepeated = seen.has(textOf(name))
      seen.add(textOf(name))
      return [
        ...(claims.has(name)
          ? []
          : [
              invalidValue(
                path,
                textOf(name),
                'must match the name of an entry in `spec.resourceClaims`',
              ),
            ]),
        ...(isRepeated ? [duplicate(path, textOf(name))] : []),
        ...(resourceClaimName === undefined
          ? []
          : checked(path, textOf(resourceClaimName), checkDnsSubdomain)),
      ]
    },
  )
}

const healths = ['Healthy', 'Unhealthy', 'Unknown']
const noSuchClaim =
  "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"

/** Returns the rule for the health of devices in a container status (gate ResourceHealthStatus). */
export function deviceHealth(containers: readonly Fields[]): Rule {
  const byName = firstBy(containers, ({ name }) => name)
  const known = once('names of device resources', () => new Map<Json | undefined, ClaimNames>())
  return (value, path, check) => {
    eachIn(itemsOf(value), check, (status, at, outer) => {
      const container = byName.get(status['name'])
      const names = once(
        'names of the resources of a container',
        () => known.get(status['name']) ?? knownNames(fieldsOf(container?.['resources'])),
      )
      known.set(status['name'], names)
      const own = `${path}[${at}].allocatedResourcesStatus`
      eachIn(itemsOf(status['allocatedResourcesStatus']), outer, (resource, index, inner) => {
        const name = textOf(resource['name'])
        const why = container === undefined ? undefined : nameFault(name, names)
        if (why !== undefined)
          inner.faults.push(invalidUnquoted(`${own}[${index}].name`, name, why))
        health(resource['resources'], `${own}[${index}].resources`, inner)
      })
    })
  }
}

type ClaimNames = { readonly requests: Fields; readonly claims: ReadonlySet<string> }

const knownNames = ({ claims, requests }: Fields): ClaimNames => ({
  requests: fieldsOf(requests),
  claims: keysOf(itemsOf(claims), ({ name, request }) =>
    textOf(request) === '' ? `claim:${textOf(name)}` : `claim:${textOf(name)}/${textOf(request)}`,
  ),
})

function nameFault(name: string, { claims, requests }: ClaimNames): string | undefined {
  if (name.startsWith('claim:')) return claims.has(name) ? undefined : noSuchClaim
  return Object.hasOwn(requests, name)
    ? undefined
    : "must match one of the container's resource requests"
}

const health: Rule = (value, path, check) => {
  const seen = once('devices', () => new Set<string>())
  eachIn(itemsOf(value), check, (resource, at, { faults }) => {
    const id = textOf(resource['resourceID'])
    const state = textOf(resource['health'])
    if (!healths.includes(state)) faults.push(notSupported(`${path}[${at}].health`, state, healths))
    if (!addKey(seen, id)) faults.push(duplicate(`${path}[${at}].resourceID`, id))
  })
}
