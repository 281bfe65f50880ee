/** Limits of the cost of CEL expressions, in kube-apiserver's units. */

/** Limit for one evaluation of one expression or variable. */
export const EXPRESSION_COST_MAX = 1_000_000
/**
 * Limit for all validations of a policy and their messages, with one parameter of one binding. The
 * same limit applies separately to all audit annotations, and to each mutation.
 */
export const POLICY_COST_MAX = 10_000_000
/** Limit for all match conditions of a policy. */
export const CONDITIONS_COST_MAX = 2_500_000

/** Error message of a policy that exceeds a limit. */
export const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'
