/** Tables of Nodes, Namespaces, and resources for configuration and access control. */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import { ageOf, durationText, type TableKind } from '../../api/table.ts'
import {
  columnsOf,
  createdAgo,
  keysOf,
  nameOf,
  orNone,
  orUnset,
  shortened,
  shownOf,
  specOf,
  statusOf,
  table,
  type LaterTable,
} from './columns.ts'

const namespaces = table('Name | Status | Age', (object) => [
  nameOf(object),
  textOf(statusOf(object)['phase']),
  createdAgo(object),
])

const nodes = table(
  'Name | Status | Roles | Age | Version | Internal-IP* | External-IP* | OS-Image* | Kernel-Version* | Container-Runtime*',
  (object) => {
    const info = fieldsOf(statusOf(object)['nodeInfo'])
    return [
      nameOf(object),
      nodeState(object),
      orNone(rolesOf(object).join(',')),
      createdAgo(object),
      textOf(info['kubeletVersion']),
      addressOf(object, 'InternalIP'),
      addressOf(object, 'ExternalIP'),
      textOf(info['osImage']) || '<unknown>',
      textOf(info['kernelVersion']) || '<unknown>',
      textOf(info['containerRuntimeVersion']) || '<unknown>',
    ]
  },
)

function nodeState(node: KubeObject): string {
  const ready = itemsOf(statusOf(node)['conditions']).find((one) => one['type'] === 'Ready')
  const word = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady'
  return specOf(node)['unschedulable'] === true ? `${word},SchedulingDisabled` : word
}

const rolePrefix = 'node-role.kubernetes.io/'

/**
 * Returns the roles of a Node. There are two kinds of role labels: one contains the role in its
 * key, the other in its value.
 */
function rolesOf({ metadata }: KubeObject): readonly string[] {
  const labels = Object.entries(metadata.labels ?? {})
  const roles = labels.flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length)
      return [key.slice(rolePrefix.length)]
    return key === 'kubernetes.io/role' && value !== '' ? [value] : []
  })
  return [...new Set(roles)].toSorted()
}

function addressOf(node: KubeObject, type: string): string {
  const found = itemsOf(statusOf(node)['addresses']).find((one) => one['type'] === type)
  return orNone(textOf(found?.['address']))
}

const configMaps = table('Name | Data | Age', (object) => [
  nameOf(object),
  keysOf(object['data']).length + keysOf(object['binaryData']).length,
  createdAgo(object),
])

const secrets = table('Name | Type | Data | Age', (object) => [
  nameOf(object),
  textOf(object['type']),
  keysOf(object['data']).length,
  createdAgo(object),
])

const serviceAccounts = table('Name | Secrets | Age', (object) => [
  nameOf(object),
  itemsOf(object['secrets']).length,
  createdAgo(object),
])

/** The first release that does not list the number of secrets of a ServiceAccount. */
const NO_SECRETS_SINCE = 35

const serviceAccountsWithoutSecrets = table('Name | Age', (object) => [
  nameOf(object),
  createdAgo(object),
])

const resourceQuotas = table('Name | Request | Limit | Age', (object) => {
  const { hard, used } = statusOf(object)
  const shown = keysOf(hard)
    .toSorted()
    .map((name) => ({
      isLimit: name.startsWith('limits.'),
      text: `${name}: ${shownOf(fieldsOf(used)[name]) || '0'}/${shownOf(fieldsOf(hard)[name])}`,
    }))
  const all = (isLimit: boolean): string =>
    shown.flatMap((one) => (one.isLimit === isLimit ? [one.text] : [])).join(', ')
  return [nameOf(object), all(false), all(true), createdAgo(object)]
})

const componentStatuses = table('Name | Status | Message | Error', (object) => {
  const healthy = itemsOf(object['conditions']).find((one) => one['type'] === 'Healthy')
  const state = healthy?.['status'] === 'True' ? 'Healthy' : 'Unhealthy'
  return [
    nameOf(object),
    healthy === undefined ? 'Unknown' : state,
    textOf(healthy?.['message']),
    textOf(healthy?.['error']),
  ]
})

const roleBindings = table('Name | Role | Age | Users* | Groups* | ServiceAccounts*', (object) => {
  const { kind, name } = fieldsOf(object['roleRef'])
  const subjects = itemsOf(object['subjects'])
  const all = (type: string, print: (subject: Fields) => string): string =>
    subjects.flatMap((one) => (one['kind'] === type ? [print(one)] : [])).join(', ')
  return [
    nameOf(object),
    `${textOf(kind)}/${textOf(name)}`,
    createdAgo(object),
    all('User', (one) => textOf(one['name'])),
    all('Group', (one) => textOf(one['name'])),
    all('ServiceAccount', (one) => `${textOf(one['namespace'])}/${textOf(one['name'])}`),
  ]
})

const priorityClasses = table(
  'Name | Value:integer | Global-Default:boolean | Age | PreemptionPolicy',
  (object) => [
    nameOf(object),
    numberOf(object['value']),
    object['globalDefault'] === true,
    createdAgo(object),
    textOf(object['preemptionPolicy']),
  ],
)

const runtimeClasses = table('Name | Handler | Age', (object) => [
  nameOf(object),
  textOf(object['handler']),
  createdAgo(object),
])

const leases = table('Name | Holder | Age', (object) => [
  nameOf(object),
  textOf(specOf(object)['holderIdentity']),
  createdAgo(object),
])

const leaseCandidates = table(
  'Name | LeaseName | BinaryVersion | EmulationVersion | Age',
  (object) => {
    const { leaseName, binaryVersion, emulationVersion } = specOf(object)
    return [
      nameOf(object),
      textOf(leaseName),
      textOf(binaryVersion),
      textOf(emulationVersion),
      createdAgo(object),
    ]
  },
)

const trustBundles = table('Name | SignerName', (object) => [
  nameOf(object),
  orNone(textOf(specOf(object)['signerName'])),
])

const storageVersions = table('Name | CommonEncodingVersion | StorageVersions | Age', (object) => {
  const { commonEncodingVersion, storageVersions: servers } = statusOf(object)
  const shown = itemsOf(servers).map(
    ({ apiServerID, encodingVersion }) => `${textOf(apiServerID)}=${textOf(encodingVersion)}`,
  )
  return [
    nameOf(object),
    orUnset(textOf(commonEncodingVersion)),
    orUnset(shortened(shown)),
    createdAgo(object),
  ]
})

const storageVersionMigrations: TableKind = {
  columns: columnsOf('Name | Resource').map((column) => ({ ...column, format: '' })),
  cells: (object) => {
    const { group, version, resource } = fieldsOf(specOf(object)['resource'])
    return [nameOf(object), [resource, version, group].map(textOf).join('.')]
  },
}

/** The first release that migrates the stored objects of a resource in all of its versions. */
const ALL_VERSIONS_SINCE = 35

const migrationStates = ['Running', 'Failed', 'Succeeded']

const laterMigrations: TableKind = {
  columns: columnsOf('Name | Resource | Status').map((column) => ({ ...column, format: '' })),
  cells: (object) => {
    const { group, resource } = fieldsOf(specOf(object)['resource'])
    const state = itemsOf(statusOf(object)['conditions']).findLast(
      ({ type, status }) => status === 'True' && migrationStates.includes(textOf(type)),
    )
    return [
      nameOf(object),
      [resource, group].map(textOf).filter(Boolean).join('.'),
      state === undefined ? 'Unknown' : textOf(state['type']),
    ]
  },
}

const namesAndAges = table('Name | Age', (object) => [nameOf(object), createdAgo(object)])

const resourceClaims = table('Name | State | Age', (object) => [
  nameOf(object),
  claimState(object),
  createdAgo(object),
])

function claimState(claim: KubeObject): string {
  const { allocation, reservedFor } = statusOf(claim)
  const isDeleted = claim.metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (allocation !== undefined)
    states.push('allocated', ...(itemsOf(reservedFor).length > 0 ? ['reserved'] : []))
  else if (!isDeleted) states.push('pending')
  return states.join(',')
}

const resourceSlices = table('Name | Node | Driver | Pool | Age', (object) => {
  const { nodeName, driver, pool } = specOf(object)
  return [
    nameOf(object),
    textOf(nodeName),
    textOf(driver),
    textOf(fieldsOf(pool)['name']),
    createdAgo(object),
  ]
})

const deviceTaintRules = table('Name | Key | Value | Effect | TimeAdded | Age', (object) => {
  const { key, value, effect, timeAdded } = fieldsOf(specOf(object)['taint'])
  const added = timeAdded === undefined ? '' : ageOf(textOf(timeAdded))
  return [nameOf(object), textOf(key), textOf(value), textOf(effect), added, createdAgo(object)]
})

const apiServices = table('Name | Service | Available | Age', (object) => {
  const { service } = specOf(object)
  const { namespace, name } = fieldsOf(service)
  const available = itemsOf(statusOf(object)['conditions']).find(
    (one) => one['type'] === 'Available',
  )
  const isAvailable = available?.['status'] === 'True'
  const why = isAvailable || available === undefined ? '' : ` (${textOf(available['reason'])})`
  return [
    nameOf(object),
    service === undefined || service === null ? 'Local' : `${textOf(namespace)}/${textOf(name)}`,
    available === undefined ? 'Unknown' : `${textOf(available['status'])}${why}`,
    createdAgo(object),
  ]
})

const certificateRequests = table(
  'Name | Age | SignerName | Requestor | RequestedDuration | Condition',
  (object) => {
    const { signerName, username, expirationSeconds } = specOf(object)
    return [
      nameOf(object),
      createdAgo(object),
      textOf(signerName),
      textOf(username),
      expirationSeconds === undefined ? '<none>' : durationText(numberOf(expirationSeconds) * 1000),
      requestState(object),
    ]
  },
)

function requestState(request: KubeObject): string {
  const { conditions, certificate } = statusOf(request)
  const types = itemsOf(conditions).map((one) => one['type'])
  const decision = types.includes('Denied')
    ? 'Denied'
    : types.includes('Approved')
      ? 'Approved'
      : 'Pending'
  const isFailed = types.includes('Failed')
  const isIssued = textOf(certificate) !== ''
  return [decision, ...(isFailed ? ['Failed'] : []), ...(isIssued ? ['Issued'] : [])].join(',')
}

const webhookConfigurations = table('Name | Webhooks:integer | Age', (object) => [
  nameOf(object),
  itemsOf(object['webhooks']).length,
  createdAgo(object),
])

const policies = (column: string, list: string): TableKind =>
  table(`Name | ${column}:integer | ParamKind | Age`, (object) => {
    const { [list]: items, paramKind } = specOf(object)
    const { apiVersion, kind } = fieldsOf(paramKind)
    return [
      nameOf(object),
      itemsOf(items).length,
      kind === undefined ? '<unset>' : `${textOf(apiVersion)}/${textOf(kind)}`,
      createdAgo(object),
    ]
  })

const policyBindings = table('Name | PolicyName | ParamRef | Age', (object) => {
  const { policyName, paramRef } = specOf(object)
  return [
    nameOf(object),
    textOf(policyName),
    orUnset(printParamRef(fieldsOf(paramRef))),
    createdAgo(object),
  ]
})

/** Formats a reference to parameters. A selector is formatted like the result of String() in Go. */
function printParamRef({ name, namespace, selector }: Fields): string {
  if (name !== undefined) return `${textOf(namespace) || '*'}/${textOf(name)}`
  if (selector === undefined) return ''
  const { matchLabels, matchExpressions } = fieldsOf(selector)
  const labels = Object.entries(fieldsOf(matchLabels)).map(
    ([key, value]) => `${key}: ${textOf(value)},`,
  )
  const expressions = itemsOf(matchExpressions).map(({ key, operator, values }) => {
    const list = Array.isArray(values) ? values.map(textOf) : []
    return `LabelSelectorRequirement{Key:${textOf(key)},Operator:${textOf(operator)},Values:[${list.join(' ')}],},`
  })
  const shown = `[]LabelSelectorRequirement{${expressions.join('')}}`
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:${shown},}`
}

const precedenceOf = (schema: KubeObject): number => numberOf(specOf(schema)['matchingPrecedence'])

const flowSchemas: TableKind = {
  ...table(
    'Name | PriorityLevel | MatchingPrecedence | DistinguisherMethod | Age | MissingPL',
    (object) => {
      const { priorityLevelConfiguration, matchingPrecedence, distinguisherMethod } = specOf(object)
      const dangling = itemsOf(statusOf(object)['conditions']).find(
        (one) => one['type'] === 'Dangling',
      )
      return [
        nameOf(object),
        textOf(fieldsOf(priorityLevelConfiguration)['name']),
        numberOf(matchingPrecedence),
        orNone(textOf(fieldsOf(distinguisherMethod)['type'])),
        createdAgo(object),
        dangling === undefined ? '?' : textOf(dangling['status']),
      ]
    },
  ),
  /** Sort FlowSchemas by precedence: for each request, the first matching FlowSchema applies. */
  compare: (one, other) => precedenceOf(one) - precedenceOf(other),
}

const numberOrNone = (value: Json | undefined): string | number =>
  typeof value === 'number' ? value : '<none>'

const priorityLevels = table(
  'Name | Type | NominalConcurrencyShares | Queues | HandSize | QueueLengthLimit | Age',
  (object) => {
    const { type, limited } = specOf(object)
    const { nominalConcurrencyShares, limitResponse } = fieldsOf(limited)
    const { queues, handSize, queueLengthLimit } = fieldsOf(fieldsOf(limitResponse)['queuing'])
    return [
      nameOf(object),
      textOf(type),
      numberOrNone(nominalConcurrencyShares),
      numberOrNone(queues),
      numberOrNone(handSize),
      numberOrNone(queueLengthLimit),
      createdAgo(object),
    ]
  },
)

export const clusterTables: readonly (readonly [string, TableKind])[] = [
  ['Namespace', namespaces],
  ['Node', nodes],
  ['ConfigMap', configMaps],
  ['Secret', secrets],
  ['ServiceAccount', serviceAccounts],
  ['ResourceQuota', resourceQuotas],
  ['ComponentStatus', componentStatuses],
  ['RoleBinding.rbac.authorization.k8s.io', roleBindings],
  ['ClusterRoleBinding.rbac.authorization.k8s.io', roleBindings],
  ['PriorityClass.scheduling.k8s.io', priorityClasses],
  ['RuntimeClass.node.k8s.io', runtimeClasses],
  ['Lease.coordination.k8s.io', leases],
  ['LeaseCandidate.coordination.k8s.io', leaseCandidates],
  ['ClusterTrustBundle.certificates.k8s.io', trustBundles],
  ['StorageVersion.internal.apiserver.k8s.io', storageVersions],
  ['StorageVersionMigration.storagemigration.k8s.io', storageVersionMigrations],
  ['Workload.scheduling.k8s.io', namesAndAges],
  ['DeviceClass.resource.k8s.io', namesAndAges],
  ['DeviceTaintRule.resource.k8s.io', deviceTaintRules],
  ['ResourceClaim.resource.k8s.io', resourceClaims],
  ['ResourceClaimTemplate.resource.k8s.io', namesAndAges],
  ['ResourceSlice.resource.k8s.io', resourceSlices],
  ['APIService.apiregistration.k8s.io', apiServices],
  ['CertificateSigningRequest.certificates.k8s.io', certificateRequests],
  ['MutatingWebhookConfiguration.admissionregistration.k8s.io', webhookConfigurations],
  ['ValidatingWebhookConfiguration.admissionregistration.k8s.io', webhookConfigurations],
  ['MutatingAdmissionPolicy.admissionregistration.k8s.io', policies('Mutations', 'mutations')],
  ['MutatingAdmissionPolicyBinding.admissionregistration.k8s.io', policyBindings],
  [
    'ValidatingAdmissionPolicy.admissionregistration.k8s.io',
    policies('Validations', 'validations'),
  ],
  ['ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io', policyBindings],
  ['FlowSchema.flowcontrol.apiserver.k8s.io', flowSchemas],
  ['PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io', priorityLevels],
]

export const laterClusterTables: readonly (readonly [string, LaterTable])[] = [
  ['ServiceAccount', { since: NO_SECRETS_SINCE, table: serviceAccountsWithoutSecrets }],
  [
    'StorageVersionMigration.storagemigration.k8s.io',
    { since: ALL_VERSIONS_SINCE, table: laterMigrations },
  ],
]
