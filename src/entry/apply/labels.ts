/** The labels and annotations of an ApplySet (KEP-3659). */

/** The label of each member. Its value is the ID of the ApplySet. */
export const partOfLabel = 'applyset.kubernetes.io/part-of'

/** The label of the parent object. Its value is the ID of the ApplySet. */
export const idLabel = 'applyset.kubernetes.io/id'

/** The annotation with the program that manages the ApplySet, and its version. */
export const toolingAnnotation = 'applyset.kubernetes.io/tooling'

/** The annotation that lists the kinds of the members, such as `Deployment.apps`. */
export const kindsAnnotation = 'applyset.kubernetes.io/contains-group-kinds'

/** The annotation with the namespaces of the members, except the namespace of the parent. */
export const namespacesAnnotation = 'applyset.kubernetes.io/additional-namespaces'
