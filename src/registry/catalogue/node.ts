/** Written by scripts/catalogue.ts. The form: objects/schema/read-types.ts, and by hand only the marks gate=. */
export const nodeTypes = `
package node/v1

RuntimeClass
  ...meta.TypeMeta
  metadata meta.ObjectMeta 1
  handler! string 2
  overhead *Overhead 3
  scheduling *Scheduling 4

Overhead
  podFixed core.ResourceList 1

Scheduling
  nodeSelector map[string]string 1 atomic
  tolerations []core.Toleration 2 atomic
`
