/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const schedulingTypes = `
package scheduling/v1

PriorityClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  value! int32 2
  globalDefault bool 3
  description string 4
  preemptionPolicy *core.PreemptionPolicy 5
`
