/**
 * Endpoints at Unix domain sockets: `unix:/path`, or `unix:@name` in Linux's abstract namespace.
 */
export const unixScheme = 'unix:'

export const unixEndpoint = (path: string): string => `${unixScheme}${path}`

/**
 * Returns the path in the form that Node.js expects: the name of an abstract socket begins with a
 * zero byte.
 */
export const socketPath = (endpoint: string): string =>
  endpoint.slice(unixScheme.length).replace(/^@/, '\0')
