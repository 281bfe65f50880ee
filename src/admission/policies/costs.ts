/** Limits of CEL expressions, in upstream's units of cost. */

/** Of one evaluation of one expression, or one variable. */
export const EXPRESSION_COST_MAX = 1_000_000
/** Of all validations and their messages, and again of all audit annotations, with one parameter of one binding. */
export const POLICY_COST_MAX = 10_000_000
/** Of all match conditions. */
export const CONDITIONS_COST_MAX = 2_500_000
