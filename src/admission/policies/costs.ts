/** Limits of CEL expressions, in upstream's units of cost. */

/** Of one evaluation of one expression, or one variable. */
export const EXPRESSION_COST_MAX = 1_000_000
/**
 * Of all validations and their messages, and again of all audit annotations, with one parameter of
 * one binding; and of each mutation.
 */
export const POLICY_COST_MAX = 10_000_000
/** Of all match conditions. */
export const CONDITIONS_COST_MAX = 2_500_000

/** What a policy that costs more says. */
export const OVER_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'
