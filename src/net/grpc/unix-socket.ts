/**
 * Endpoints that are Unix domain sockets: `unix:/path`, or `unix:@name` in Linux's abstract
 * namespace.
 */
export const unixScheme = 'unix:'

export const unixEndpoint = (path: string): string => `${unixScheme}${path}`

/** Returns the path as Node expects it: the name of an abstract socket begins with a zero byte. */
export const socketPath = (endpoint: string): string =>
  endpoint.slice(unixScheme.length).replace(/^@/, '\0')
