/** `host:port`, with an IPv6 address in brackets, as Go's net.JoinHostPort. */
export const hostPort = ({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
