/** Cost limits of CEL expressions, in the cost units of kube-apiserver. */

/** Cost limit for one evaluation of an expression or variable. */
export const EXPRESSION_COST_MAX = 1_000_000
/**
 * Cost limit for all validations of a policy and their messages, for one binding and one parameter.
 * A separate limit of the same size applies to all audit annotations together, and to each
 * mutation.
 */
export const POLICY_COST_MAX = 10_000_000
/** Cost limit for all match conditions of a policy. */
export const CONDITIONS_COST_MAX = 2_500_000

/** Error message if a policy exceeds a cost limit. */
export const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'
