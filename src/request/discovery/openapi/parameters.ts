/**
 * The parameters of operations, as rows with name and type. The v2 document defines some parameters
 * only once, under a shared name. For these, the rows also contain the suffix of the shared name.
 * The suffixes are those of kube-apiserver, because generated clients contain them.
 */

export type Parameter = {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
  /** The name of the shared parameter in the v2 document, such as `container-1GeXxFDC`. */
  readonly sharedName?: string
}

export const namespaceParameter = row('namespace vgWSWtn3: The namespace of the object.', 'path')
export const prettyParameter = row('pretty tJGM1-ng: If `true`, the response is indented.')
export const proxiedPath = row('path z6Ciiujn: The path of the forwarded request.', 'path')

/**
 * Returns the parameter for the name of an object. This parameter is not shared, because its
 * description contains the kind.
 */
export const nameParameter = (kind: string): Parameter =>
  row(`name: The name of the ${kind}.`, 'path')

const dryRun = row('dryRun: With `All`, the request is processed but nothing is stored.')
const fieldValidation = row(
  'fieldValidation: How unknown and duplicate fields are treated: `Ignore`, `Warn` (the default) or `Strict`.',
)
const managerText = 'The name of the manager that owns the changed fields.'
const listRows = {
  continue: row(
    'continue QfD61s0i: The token from the previous part of the list, at which the list continues.',
  ),
  fieldSelector: row('fieldSelector xIcQKXFG: Selects objects by the values of their fields.'),
  labelSelector: row('labelSelector 5Zw57w4C: Selects objects by their labels.'),
  limit: row(
    'limit:integer 1NfNmdNH: Maximum number of objects. The response has a token if there are more.',
  ),
  resourceVersion: row('resourceVersion 5WAnf1kx: The version of the requested state.'),
  resourceVersionMatch: row(
    'resourceVersionMatch t8XhRHeC: How resourceVersion is applied: `Exact` or `NotOlderThan`.',
  ),
  sendInitialEvents: row(
    'sendInitialEvents:boolean rLXlEK_k: Whether a watch begins with the existing objects and a bookmark.',
  ),
  timeoutSeconds: row(
    'timeoutSeconds:integer yvYezaOC: Maximum duration of the list or watch, in seconds.',
  ),
}

export const listParameters: readonly Parameter[] = [
  row('allowWatchBookmarks:boolean HC2hJt-J: Whether a watch may send bookmarks.'),
  ...Object.values(listRows),
  row('watch:boolean XNNPZGbK: Whether to watch for changes instead of listing.'),
]

/** Parameters of a get. Only documents of custom resources list these parameters. */
export const readParameters: readonly Parameter[] = [listRows.resourceVersion]

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  row(
    'gracePeriodSeconds:integer -K5HaBOS: Time for the object to shut down. Zero deletes it at once.',
  ),
  row(
    'ignoreStoreReadErrorWithClusterBreakingPotential:boolean QbNkfIqj: Whether to delete an object that cannot be read, without the usual steps of a delete.',
  ),
  row('orphanDependents:boolean uRB25kX5: Deprecated. Use propagationPolicy.'),
  row(
    'propagationPolicy 6jk3prlO: What happens to dependents: `Orphan`, `Background` or `Foreground`.',
  ),
]

/** Parameters of a deletecollection: those of a list, except those of a watch. */
export const deleteCollectionParameters: readonly Parameter[] = [
  ...deleteParameters,
  ...Object.values(listRows),
]

export const writeParameters: readonly Parameter[] = [
  dryRun,
  row(`fieldManager Qy4HdaTW: ${managerText}`),
  fieldValidation,
]

export const patchParameters: readonly Parameter[] = [
  dryRun,
  row(`fieldManager 7c6nTn1T: ${managerText} Required for an apply.`),
  fieldValidation,
  row('force:boolean tOGGb0Yi: Whether an apply takes fields from other managers.'),
]

/**
 * Parameters of connect operations and of logs, keyed by the kind that contains these parameters.
 */
export const optionParameters: ReadonlyMap<string, readonly Parameter[]> = new Map([
  ['NodeProxyOptions', [row('path rFDtV0x9: The path on the node.')]],
  ['PodProxyOptions', [row('path oPbzgLUj: The path in the pod.')]],
  ['ServiceProxyOptions', [row('path QCf0eosM: The path at the service.')]],
  ['PodPortForwardOptions', [row('ports:integer 91KROJmm: The ports to forward.')]],
  [
    'PodExecOptions',
    [
      row('command Py3eQybp: The command and its arguments. It is not run in a shell.'),
      row('container i5dOmRiM: The container. Optional if the pod has only one.'),
      row('stderr:boolean W_1TNlWc: Whether to send the standard error of the command.'),
      row('stdin:boolean PSzNhyUC: Whether the command reads input from the client.'),
      row('stdout:boolean -EZLRwV1: Whether to send the standard output of the command.'),
      row('tty:boolean s0flW37O: Whether the command gets a terminal.'),
    ],
  ],
  [
    'PodAttachOptions',
    [
      row('container _Q-EJ3nR: The container. Optional if the pod has only one.'),
      row('stderr:boolean 26jJhFUR: Whether to send the standard error of the container.'),
      row('stdin:boolean sEFnN3IS: Whether the container reads input from the client.'),
      row('stdout:boolean 005YMKE6: Whether to send the standard output of the container.'),
      row('tty:boolean g7MlET_l: Whether to use the terminal of the container.'),
    ],
  ],
  [
    'PodLogOptions',
    [
      row('container 1GeXxFDC: The container. Optional if the pod has only one.'),
      row('follow:boolean 9OIXh_2R: Whether to continue with lines that are logged later.'),
      row(
        'insecureSkipTLSVerifyBackend:boolean gM00jVbe: Whether to skip the check of the certificate of the kubelet.',
      ),
      row('limitBytes:integer zwd1RXuc: Maximum number of bytes.'),
      row(
        'previous:boolean 1jxDPu3y: Whether to return the log of the container before its last restart.',
      ),
      row('sinceSeconds:integer vE2NLdnP: Maximum age of lines, in seconds.'),
      row('stream l-48cgXv: The stream to return: `All`, `Stdout` or `Stderr`.'),
      row('tailLines:integer 9xQLWHMV: Number of lines from the end of the log.'),
      row('timestamps:boolean c17fW1w_: Whether each line begins with its timestamp.'),
    ],
  ],
])

/**
 * Parses a row: `name[:type] [suffix of the shared name]: description`. The default type is
 * `string`.
 */
function row(text: string, place: 'query' | 'path' = 'query'): Parameter {
  const at = text.indexOf(': ')
  const [typed = '', end] = text.slice(0, at).split(' ')
  const [name = '', type] = typed.split(':')
  return {
    name,
    in: place,
    type: type === 'boolean' || type === 'integer' ? type : 'string',
    description: text.slice(at + 2),
    ...(end === undefined ? {} : { sharedName: `${name}-${end}` }),
  }
}
