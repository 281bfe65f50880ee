/** The flags of `keelson auth why`. */
import type { CommandFlagTable } from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'

const withoutKubeconfig = 'Without a kubeconfig:'

export const whyFlags = {
  as: {
    type: 'string',
    value: 'user',
    help: 'The user whose access is explained. The group system:authenticated is added and, without --as-group, the groups of a service account.',
  },
  'as-group': {
    type: 'string',
    multiple: true,
    value: 'group',
    help: 'A group of the user. Can be repeated.',
  },
  'as-uid': { type: 'string', value: 'uid', help: 'The UID of the user.' },
  'as-extra': {
    type: 'string',
    multiple: true,
    value: 'key=value',
    help: 'An extra attribute of the user. Can be repeated.',
  },
  namespace: {
    type: 'string',
    short: 'n',
    value: 'namespace',
    help: 'The namespace of the request. Default: all namespaces, even if the kubeconfig specifies a namespace.',
  },
  'all-namespaces': {
    type: 'boolean',
    short: 'A',
    help: 'A request for all namespaces, which is the default.',
  },
  subresource: {
    type: 'string',
    value: 'name',
    help: 'The subresource of the request, such as log of pods.',
  },
  kubeconfig: {
    type: 'string',
    value: 'file',
    help: 'The kubeconfig to use. Default: the first file of KUBECONFIG, or ~/.kube/config.',
  },
  context: {
    type: 'string',
    value: 'name',
    help: 'The context of the kubeconfig to use. Default: its current context.',
  },
  server: { type: 'string', value: 'url', help: `${withoutKubeconfig} the URL of the server.` },
  token: { type: 'string', value: 'token', help: `${withoutKubeconfig} the bearer token.` },
  'certificate-authority': {
    type: 'string',
    value: 'file',
    help: `${withoutKubeconfig} PEM file with the CA certificates that verify the server.`,
  },
  'insecure-skip-tls-verify': {
    type: 'boolean',
    help: `${withoutKubeconfig} do not verify the certificate of the server.`,
  },
  output: {
    type: 'string',
    short: 'o',
    value: 'json',
    choices: ['json'],
    help: 'Print the whole response as JSON.',
  },
} as const satisfies CommandFlagTable

export const whyHelp: CommandHelp = {
  usage: [
    'keelson auth why --as USER VERB TYPE[.GROUP][/NAME] [flags]',
    'keelson auth why --as USER VERB /PATH [flags]',
  ],
  arguments: [
    ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    [],
  ],
  description: `Shows which authorizer allows a user to do something, and by which binding and rule.
If none does, shows the bindings of the user that come closest, and the commands that create the
smallest role for the request. TYPE is a plural, singular or short name. The exit code is 0 if the
user is allowed, and 1 if not. The caller needs the verb get on the path /debug/authorization.

  keelson auth why --as alice get pods -n shop
  keelson auth why --as alice --as-group ops delete deployments.apps/web -n shop
  keelson auth why --as system:serviceaccount:shop:bot get /metrics`,
  sections: [{ flags: whyFlags }],
}
