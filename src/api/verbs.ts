/**
 * The verbs and the HTTP methods of requests that only read. Some parts of the server use verbs,
 * and others use methods.
 */

/** Read-only verbs of requests for resources. */
export const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/**
 * Read-only verbs of requests for paths without a resource. They are HTTP methods in lower case.
 */
export const readPathVerbs: ReadonlySet<string> = new Set(['get', 'head', 'options'])

/** Read-only HTTP methods. */
export const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
