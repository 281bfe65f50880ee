/** The types of ABAC policies. objects/schema/read-types.ts describes the syntax. */
export const abacTypes = `
package abac/v1beta1

Policy
  ...meta.TypeMeta
  spec! PolicySpec -

PolicySpec
  user string -
  group string -
  readonly bool -
  apiGroup string -
  resource string -
  namespace string -
  nonResourcePath string -

package abac/v0

Policy
  ...meta.TypeMeta
  user string -
  group string -
  readonly bool -
  resource string -
  namespace string -
`
