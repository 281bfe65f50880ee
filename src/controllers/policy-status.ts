/**
 * The validatingadmissionpolicy-status-controller. When the spec of a validating policy changes, it
 * type-checks the expressions against the schemas of the resources that the policy matches.
 * Problems are reported in the status.
 */
import { type Fields, fieldsOf, type KubeObject, numberOf } from '../api/object.ts'
import { admissionGroup } from '../admission/admission.ts'
import { typeCheck } from '../admission/policies/type-check.ts'
import { ObjectController, type ObjectControllerOptions } from './object-controller.ts'

/** Number of workers, as in kube-controller-manager. */
const WORKERS_MAX = 5
/** Name of the queue and the field manager, as in kube-controller-manager. */
const name = 'validatingadmissionpolicy-status'

export const checkPolicies = (options: ObjectControllerOptions): AsyncDisposable =>
  new ObjectController(
    {
      name: 'the type check of a policy',
      queue: name,
      workersMax: WORKERS_MAX,
      group: admissionGroup,
      plural: 'validatingadmissionpolicies',
      // Accept every large policy without decoding it here. It is decoded in parts before `work` is
      // called.
      concerns: (item) => item.isLarge || isUnchecked(item.peek()),
      work: async (policy, write) => {
        if (!isUnchecked(policy)) return undefined
        const warnings = await typeCheck(
          { spec: policy['spec'] },
          [...options.registry.all()],
          options.registry.release,
        )
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
  // The uid ensures that the status is not written to a newer policy with the same name. The newer
  // policy is checked separately.
  return {
    apiVersion,
    kind,
    metadata: { name: own, uid },
    status: { observedGeneration: generation, typeChecking },
  }
}
