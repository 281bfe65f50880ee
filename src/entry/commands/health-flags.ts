/** The flags of `keelson health`. */
import type { CommandFlagTable } from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'

export const healthFlags = {
  server: {
    type: 'string',
    value: 'url',
    shownDefault: 'https://127.0.0.1:6443',
    help: 'The address of the server.',
  },
  path: {
    type: 'string',
    value: 'path',
    shownDefault: '/livez?exclude=etcd',
    help: 'The path to request, such as /readyz.',
  },
} as const satisfies CommandFlagTable

export const healthHelp: CommandHelp = {
  usage: ['keelson health [flags]'],
  description: `Asks a server for its health, and exits with status 0 if it is healthy, and 1 if it
is not. The command is for the health checks of containers. It sends no credentials, and does not
verify the server's certificate.`,
  sections: [{ flags: healthFlags }],
}
