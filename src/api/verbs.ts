/** Requests that only read, in the words with which different parts of the server identify them. */

/** Verbs of requests for resources that change nothing. */
export const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/**
 * Verbs of requests for paths without a resource that change nothing. They are methods in lower
 * case.
 */
export const readPathVerbs: ReadonlySet<string> = new Set(['get', 'head', 'options'])

/** HTTP methods of requests that change nothing. */
export const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
