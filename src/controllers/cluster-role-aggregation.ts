/**
 * The clusterrole-aggregation controller of kube-controller-manager, for clusters without
 * kube-controller-manager (docs/decisions/0013-roles-in-memory.md). It sets the rules of each
 * ClusterRole that has an aggregationRule, with the same field manager. When any ClusterRole
 * changes, it checks all of them, because they are few and change rarely.
 */
import { matchesLabels } from '../api/label-selector.ts'
import { entriesOf, type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { objectInSlices, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { requirementsOf } from '../registry/rules/label-selector.ts'
import { identityOf } from '../objects/schema/equal.ts'
import { followWatch } from './follow-watch.ts'
import { Loop } from '../lib/concurrency/loop.ts'

const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const manager = 'clusterrole-aggregation-controller'
/** Delay before an interrupted watch is reopened. */
const RETRY_MS = 1000
/**
 * Number of roles per page. Typical roles on a page are parsed in about a millisecond; large roles
 * take longer.
 */
const PAGE_ROLES = 50

export type ClusterRoleAggregationOptions = { readonly handle: Handler; readonly log: Log }

export function followAggregatedRoles({
  handle,
  log,
}: ClusterRoleAggregationOptions): AsyncDisposable {
  const run = (signal: AbortSignal): Promise<void> => followOnce(handle, signal)
  return new Loop({ name: 'the aggregation of cluster roles', intervalMs: RETRY_MS, run, log })
}

/**
 * Aggregates all roles now, and again whenever a role changes. Resolves when the watch ends, and
 * rejects if a list or a write fails. If a role changes while the roles are aggregated, they are
 * aggregated once more.
 */
async function followOnce(handle: Handler, signal: AbortSignal): Promise<void> {
  await followWatch(handle, { path, signal }, () => aggregateAll(handle, signal))
}

async function aggregateAll(handle: Handler, signal: AbortSignal): Promise<void> {
  const slices = new Slices()
  const roles = await listRoles(handle, slices, signal)
  const faults: string[] = []
  for (const [at, role] of roles.entries()) {
    if (slices.isOver) await slices.turn()
    const rules = aggregatedRules(role, roles)
    if (rules === undefined || signal.aborted) continue
    const name = nameOf(role)
    const body = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules,
    }
    const sent = { method: 'PATCH', path: `${path}/${name}`, body, manager, isApply: true, signal }
    const { status } = await request(handle, sent)
    // Let the roles that follow select the new rules. Otherwise two roles that select each other
    // would exchange their old rules forever.
    if (status === OK) roles[at] = { ...role, rules }
    else faults.push(`${path}/${name} returned status ${status}`)
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
}

/**
 * Lists the roles in pages. Each page is parsed separately, so that other work can run in between.
 */
async function listRoles(handle: Handler, slices: Slices, signal: AbortSignal): Promise<Fields[]> {
  const roles: Fields[] = []
  for (let next = ''; ; ) {
    const query = { limit: `${PAGE_ROLES}`, ...(next === '' ? {} : { continue: next }) }
    const response = await request(handle, { method: 'GET', path, query, signal })
    if (response.status !== OK) throw new Error(`${path} returned status ${response.status}`)
    const list = fieldsOf(await objectInSlices(response))
    // Bounded: a page has at most PAGE_ROLES items, so they can be passed as arguments
    roles.push(...itemsOf(list['items']))
    next = textOf(fieldsOf(list['metadata'])['continue'])
    if (next === '') return roles
    if (slices.isOver) await slices.turn()
  }
}

/**
 * Returns the rules that the role should have. Returns undefined if the role has no
 * aggregationRule, or already has these rules in any order.
 */
export function aggregatedRules(
  role: Fields,
  all: readonly Fields[],
): readonly Fields[] | undefined {
  if (role['aggregationRule'] === undefined) return undefined
  const sorted = all
    .filter((one) => nameOf(one) !== nameOf(role))
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const rules = new Map<string, Fields>()
  for (const selector of itemsOf(fieldsOf(role['aggregationRule'])['clusterRoleSelectors'])) {
    const requirements = requirementsOf(selector)
    // Validation rejects invalid selectors, so this selector is valid.
    if (requirements === undefined) continue
    for (const one of sorted) {
      if (!matchesLabels(requirements, labelsOf(one))) continue
      for (const rule of itemsOf(one['rules'])) {
        const identity = identityOf(rule)
        if (!rules.has(identity)) rules.set(identity, rule)
      }
    }
  }
  const own = new Set(itemsOf(role['rules']).map(identityOf))
  const isSame = own.size === rules.size && [...own].every((identity) => rules.has(identity))
  return isSame ? undefined : [...rules.values()]
}

const nameOf = ({ metadata }: Fields): string => textOf(fieldsOf(metadata)['name'])

const labelsOf = ({ metadata }: Fields): { readonly [key: string]: string } =>
  Object.fromEntries(entriesOf(fieldsOf(metadata)['labels']))

const OK = 200
