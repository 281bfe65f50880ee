/**
 * The validatingadmissionpolicy-status-controller: checks the expressions of each validating policy
 * against the schemas of what it matches, when its spec has changed, and tells in its status what
 * looks wrong.
 */
import { type Fields, fieldsOf, type KubeObject, numberOf } from '../api/object.ts'
import { admissionGroup } from '../admission/admission.ts'
import { typeCheck } from '../admission/policies/type-check.ts'
import { ObjectController, type ObjectControllerOptions } from './object-controller.ts'

/** Upstream's number. */
const WORKERS_MAX = 5
/** Upstream's name of the queue and of the field manager. */
const name = 'validatingadmissionpolicy-status'

export const checkPolicies = (options: ObjectControllerOptions): AsyncDisposable =>
  new ObjectController(
    {
      name: 'the type check of a policy',
      queue: name,
      workersMax: WORKERS_MAX,
      group: admissionGroup,
      plural: 'validatingadmissionpolicies',
      // A large policy is decoded in parts, before `work`.
      concerns: (item) => item.isLarge || isUnchecked(item.peek()),
      work: async (policy, write) => {
        if (!isUnchecked(policy)) return undefined
        const warnings = await typeCheck({ spec: policy['spec'] }, [...options.registry.all()])
        await write.apply('status', checked(policy, warnings), name)
        return undefined
      },
    },
    options,
  )

const isUnchecked = ({ metadata, status }: Fields): boolean =>
  numberOf(fieldsOf(metadata)['generation']) > numberOf(fieldsOf(status)['observedGeneration'])

function checked(
  { apiVersion, kind, metadata }: KubeObject,
  warnings: Awaited<ReturnType<typeof typeCheck>>,
): Fields {
  const { name: own = '', generation = 0, uid = '' } = metadata
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings }
  // One of the same name that came meanwhile is checked by itself.
  return {
    apiVersion,
    kind,
    metadata: { name: own, uid },
    status: { observedGeneration: generation, typeChecking },
  }
}
