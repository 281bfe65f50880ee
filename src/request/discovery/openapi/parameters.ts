/**
 * The parameters of operations, as rows: name, type and, for those that the v2 document defines
 * once, the suffix of their name there. The suffixes are upstream's, since generated clients
 * contain them.
 */

export type Parameter = {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
  /** The name in the v2 document: `container-1GeXxFDC`. */
  readonly sharedName?: string
}

export const namespaceParameter = row('namespace vgWSWtn3: The namespace of the object.', 'path')
export const prettyParameter = row('pretty tJGM1-ng: If `true`, the answer is indented.')
export const proxiedPath = row('path z6Ciiujn: The path of the request that is passed on.', 'path')

/** The description contains the kind, so the parameter is not shared. */
export const nameParameter = (kind: string): Parameter =>
  row(`name: The name of the ${kind}.`, 'path')

const dryRun = row('dryRun: If `All`, everything is done but for storing the result.')
const fieldValidation = row(
  'fieldValidation: What becomes of unknown and doubled fields: `Ignore`, `Warn` (the default) or `Strict`.',
)
const managerText = 'A name for who makes the change, by which the fields it sets are owned.'
const listRows = {
  continue: row(
    'continue QfD61s0i: Where to go on: the token that came with the part of the list before this one.',
  ),
  fieldSelector: row('fieldSelector xIcQKXFG: Only objects whose fields have these values.'),
  labelSelector: row('labelSelector 5Zw57w4C: Only objects whose labels match.'),
  limit: row(
    'limit:integer 1NfNmdNH: At most so many objects; the answer has a token if there are more.',
  ),
  resourceVersion: row('resourceVersion 5WAnf1kx: The state of which version is asked for.'),
  resourceVersionMatch: row(
    'resourceVersionMatch t8XhRHeC: `Exact` or `NotOlderThan`: how resourceVersion is meant.',
  ),
  sendInitialEvents: row(
    'sendInitialEvents:boolean rLXlEK_k: Whether a watch begins with what is there, and a bookmark after it.',
  ),
  timeoutSeconds: row(
    'timeoutSeconds:integer yvYezaOC: The longest that a list or watch may take.',
  ),
}

export const listParameters: readonly Parameter[] = [
  row('allowWatchBookmarks:boolean HC2hJt-J: Whether a watch has bookmarks now and then.'),
  ...Object.values(listRows),
  row('watch:boolean XNNPZGbK: Whether to send changes as they come instead of a list.'),
]

/** Parameters of a get, which only documents of custom kinds list. */
export const readParameters: readonly Parameter[] = [listRows.resourceVersion]

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  row(
    'gracePeriodSeconds:integer -K5HaBOS: How long the object may take to end; zero: not at all.',
  ),
  row(
    'ignoreStoreReadErrorWithClusterBreakingPotential:boolean QbNkfIqj: Whether to delete an object that cannot be read, without any of the usual steps.',
  ),
  row('orphanDependents:boolean uRB25kX5: Deprecated: propagationPolicy says more.'),
  row(
    'propagationPolicy 6jk3prlO: What becomes of dependents: `Orphan`, `Background` or `Foreground`.',
  ),
]

/** Like a list, without the parameters of a watch. */
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
  row(`fieldManager 7c6nTn1T: ${managerText} An apply must have one.`),
  fieldValidation,
  row('force:boolean tOGGb0Yi: Whether an apply takes over fields that others own.'),
]

/** Parameters of connect operations and of logs, by the kind of their options. */
export const optionParameters: ReadonlyMap<string, readonly Parameter[]> = new Map([
  ['NodeProxyOptions', [row('path rFDtV0x9: The path on the node.')]],
  ['PodProxyOptions', [row('path oPbzgLUj: The path in the pod.')]],
  ['ServiceProxyOptions', [row('path QCf0eosM: The path behind the service.')]],
  ['PodPortForwardOptions', [row('ports:integer 91KROJmm: The ports to forward.')]],
  [
    'PodExecOptions',
    [
      row('command Py3eQybp: What to run, and its arguments; no shell is involved.'),
      row('container i5dOmRiM: The container to run it in; the only one if there is one.'),
      row('stderr:boolean W_1TNlWc: Whether to send what it writes to standard error.'),
      row('stdin:boolean PSzNhyUC: Whether it reads what the client sends.'),
      row('stdout:boolean -EZLRwV1: Whether to send what it writes to standard output.'),
      row('tty:boolean s0flW37O: Whether it gets a terminal.'),
    ],
  ],
  [
    'PodAttachOptions',
    [
      row('container _Q-EJ3nR: The container to attach to; the only one if there is one.'),
      row('stderr:boolean 26jJhFUR: Whether to send its standard error.'),
      row('stdin:boolean sEFnN3IS: Whether it reads what the client sends.'),
      row('stdout:boolean 005YMKE6: Whether to send its standard output.'),
      row('tty:boolean g7MlET_l: Whether its terminal is used.'),
    ],
  ],
  [
    'PodLogOptions',
    [
      row('container 1GeXxFDC: The container whose log is meant; the only one if there is one.'),
      row('follow:boolean 9OIXh_2R: Whether to go on with what is logged later.'),
      row(
        'insecureSkipTLSVerifyBackend:boolean gM00jVbe: Whether to trust any certificate of the kubelet.',
      ),
      row('limitBytes:integer zwd1RXuc: At most so many bytes.'),
      row(
        'previous:boolean 1jxDPu3y: Whether the log of the container before its last restart is meant.',
      ),
      row('sinceSeconds:integer vE2NLdnP: Only what is not older than this.'),
      row('stream l-48cgXv: `All`, `Stdout` or `Stderr`.'),
      row('tailLines:integer 9xQLWHMV: Only so many lines from the end.'),
      row('timestamps:boolean c17fW1w_: Whether each line begins with its time.'),
    ],
  ],
])

/**
 * `name[:type] [suffix of the shared name]: description`; the type is `string` if none is given.
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
