/** Where a tunnel leads. */
export type Address = { readonly host: string; readonly port: number }

/** As in Go: an IPv6 address in brackets. */
export const joinAddress = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
