/** pods/eviction: a delete that respects the PodDisruptionBudget of the pod. */
import { setTimeout as sleep } from 'node:timers/promises'
import { badRequest, invalid, notFound, refuseInvalid, unclassified } from '../../../api/errors.ts'
import { invalidValue } from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject, listOf, textsOf } from '../../../api/object.ts'
import { negotiate } from '../../../objects/codec/negotiate.ts'
import { encodeStored } from '../../../objects/codec/object.ts'
import type { Resource } from '../../../registry/resource.ts'
import { schemeOf } from '../../../registry/scheme.ts'
import { typeOf } from '../../../registry/types.ts'
import { type ObjectSchema, plainSchema } from '../../../objects/schema/object-schema.ts'
import type { Revision } from '../../../storage/engine.ts'
import { answerDone } from '../answer.ts'
import { checkPreconditions, deleteObject } from '../delete.ts'
import { checkDeleteOptions, unsafeOption } from '../delete-options.ts'
import { readAs } from '../read-body.ts'
import { translated } from '../storage-errors.ts'
import { commit } from '../write/commit.ts'
import { written } from '../write/written.ts'
import { parseWriteOptions, validateStageCount } from '../write-options.ts'
import { withCondition } from './condition.ts'
import { goesUncounted, selectsInJson, spent } from './budgets.ts'
import { evictPod, type EvictionSteps, type BudgetUse } from './evict-pod.ts'
import { mutate, type SubresourceHandler, type SubresourceAccess, withOwners } from './handler.ts'

const budgetResource = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' } as const

const disrupted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const

const shapeOf = ({ release }: Resource): ObjectSchema => ({
  ...plainSchema(typeOf('policy/v1', 'Eviction', release)),
  scheme: schemeOf('policy', release),
})

export const evict: SubresourceHandler = async (request, parts) => {
  const { name, namespace, context, http } = request
  const { resource, access } = parts.pods
  const form = negotiate(http, { hasTable: false })
  const options = parseWriteOptions(http.query, 'CreateOptions', request.resource.release)
  const shape = shapeOf(resource)
  const expected = {
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    shape,
    otherVersions: ['policy/v1beta1'],
  }
  const { fieldValidation } = options
  const body = await readAs(request, expected, { fieldValidation, access })
  const stages = listOf(fieldsOf(body['deleteOptions'])['dryRun']).length
  refuseInvalid(expected, body, validateStageCount(stages, 'deleteOptions.dryRun'))
  const given = await withOwners(request, body, { kind: expected, options, access })
  // Admission receives the dryRun option of the query. The dryRun option inside the Eviction is not
  // passed, because mutating admission can change it.
  const admitted = { operation: 'CREATE', isDryRun: options.isDryRun, access, shape } as const
  const { object: sent, validate } = await mutate(request, given, admitted)
  const eviction = checked(sent, name, options)
  await validate(eviction)
  const wanted = checkDeleteOptions(fieldsOf(eviction['deleteOptions']), request.resource.release)
  const isDryRun = options.isDryRun || wanted.isDryRun
  const key = access.keys.key(namespace, name)
  const read: EvictionSteps['read'] = async () => {
    const { item } = await access.reader.get(key, 'latest')
    if (item === undefined) throw notFound(resource, name)
    const pod = item.object()
    checkPreconditions({ group: '', plural: 'Pod' }, name, wanted, versionOf(pod, item.revision))
    return { pod, resourceVersion: `${item.revision}` }
  }
  const remove: EvictionSteps['remove'] = async (judged) => {
    if (isDryRun)
      return void (await deleteObject(request, { ...judged, isDryRun }, access, {
        isAdmitted: true,
      }))
    let marked: KubeObject | undefined
    const { revision } = await commit(request, { key, access, isDryRun }, async (current) => {
      if (current === undefined) throw notFound(resource, name)
      checkPreconditions(
        { group: '', plural: 'Pod' },
        name,
        judged,
        versionOf(current.object, current.revision),
      )
      const status = withCondition(fieldsOf(current.object['status']), disrupted, access.now())
      marked = { ...current.object, status }
      return { put: encodeStored(marked, resource.shape) }
    })
    if (marked !== undefined) written(marked, key, revision, { resource, access })
    // Storing the condition has changed the resourceVersion, so a precondition must use the new
    // resourceVersion.
    const resourceVersion = judged.resourceVersion === undefined ? undefined : `${revision}`
    await deleteObject(request, { ...judged, resourceVersion }, access, { isAdmitted: true })
  }
  await translated(context, { resource, name, verb: 'create' }, () =>
    evictPod(wanted, {
      read,
      remove,
      spend: (pod) => spend(pod, { namespace, isDryRun, parts }),
      wait: (ms) => sleep(ms, undefined, { signal: context.signal }),
    }),
  )
  return answerDone(form)
}

/**
 * Returns the eviction if it is valid. If the request is a dry run and the Eviction contains delete
 * options, sets dryRun in those options.
 */
function checked(
  eviction: KubeObject,
  name: string,
  { isDryRun }: { readonly isDryRun: boolean },
): KubeObject {
  if (eviction.metadata.name !== name)
    throw badRequest('name in URL does not match name in Eviction object')
  const { deleteOptions } = eviction
  if (deleteOptions === undefined) return eviction
  const options = fieldsOf(deleteOptions)
  if (options[unsafeOption] === true) {
    const why = 'can not be set for pod eviction, try after removing the option'
    throw invalid({ group: 'policy', kind: 'Eviction' }, name, [
      invalidValue(`deleteOptions.${unsafeOption}`, true, why),
    ])
  }
  const own = textsOf(options['dryRun'])
  if (!isDryRun) return eviction
  if (own.length === 0) return { ...eviction, deleteOptions: { ...options, dryRun: ['All'] } }
  if (own.length === 1 && own[0] === 'All') return eviction
  throw unclassified(
    `Non-matching dry-run options in request and content: [All] and [${own.join(' ')}]`,
  )
}

const versionOf = ({ metadata: { uid = '' } }: KubeObject, revision: Revision) => ({
  uid,
  resourceVersion: `${revision}`,
})

type Spending = {
  readonly namespace: string
  readonly isDryRun: boolean
  readonly parts: SubresourceAccess
}

async function spend(
  pod: KubeObject,
  { namespace, isDryRun, parts }: Spending,
): Promise<BudgetUse> {
  const { objects, pods } = parts
  const [budget, second] = await objects.pick(budgetResource, namespace, {
    path: ['spec', 'selector'],
    isWanted: (selector) => selector !== undefined && selectsInJson(selector, pod.metadata.labels),
    countMax: 2,
  })
  if (budget === undefined) return {}
  if (second !== undefined) {
    throw unclassified(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const { name: budgetName = '' } = budget.metadata
  if (goesUncounted(pod, budget)) return { uncountedIn: budgetName }
  const place = { namespace, name: budgetName }
  const podName = pod.metadata.name ?? ''
  await objects.changeStatus(budgetResource, place, (current) => {
    const changed = spent(current, podName, {
      now: pods.access.now(),
      release: pods.resource.release,
    })
    return isDryRun ? undefined : changed
  })
  return {}
}
