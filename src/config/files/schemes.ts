/**
 * The kinds of configuration files by apiVersion, as in kube-apiserver's schemes. To add a type of
 * file, add a table in types/ and a row in this file.
 *
 * A row without a package name stands for kinds that Keelson does not support. kube-apiserver knows
 * these kinds, so its error message differs from that for an unknown kind.
 */
import type { RegisteredKind, Scheme } from '../../objects/schema/object-schema.ts'
import { splitPackages, TypeCatalogue } from '../../objects/schema/read-types.ts'
import type { Struct } from '../../objects/schema/schema.ts'
import { defaultMinor } from '../../api/releases.ts'
import { abacTypes } from './types/abac.ts'
import { admissionTypes } from './types/admission.ts'
import { apiserverTypes } from './types/apiserver.ts'
import { auditTypes } from './types/audit.ts'
import { kubeconfigTypes } from './types/kubeconfig.ts'
import { metaTypes } from './types/meta.ts'

const catalogue = new TypeCatalogue({
  texts: splitPackages(
    metaTypes,
    abacTypes,
    admissionTypes,
    apiserverTypes,
    auditTypes,
    kubeconfigTypes,
  ),
  defaults: new Map(),
  release: defaultMinor,
})

type Row = {
  readonly apiVersion: string
  /**
   * The Go package that contains the types (see types/). Empty if Keelson does not support the
   * kinds.
   */
  readonly packageName: string
  /** The Go package of the internal version of the types. Error messages contain its name. */
  readonly hub: string
  /** The name of the kind in the internal version, if it differs from the name in `kinds`. */
  readonly hubKind?: string
  readonly kinds: readonly string[]
}

const access = ['AuthenticationConfiguration', 'AuthorizationConfiguration'] as const

const apiserverRows: readonly Row[] = [
  {
    apiVersion: 'apiserver.config.k8s.io/v1alpha1',
    packageName: 'apiserver/v1alpha1',
    hub: 'apiserver',
    kinds: access,
  },
  {
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    packageName: 'apiserver/v1beta1',
    hub: 'apiserver',
    kinds: access,
  },
  {
    apiVersion: 'apiserver.config.k8s.io/v1',
    packageName: 'apiserver/v1',
    hub: 'apiserver',
    kinds: ['AuthorizationConfiguration'],
  },
  ...['v1alpha1', 'v1beta1'].map((version) => ({
    apiVersion: `apiserver.config.k8s.io/${version}`,
    packageName: `apiserver/${version}`,
    hub: 'apiserver',
    kinds: ['TracingConfiguration'],
  })),
  {
    apiVersion: 'apiserver.config.k8s.io/v1',
    packageName: 'apiserver/v1',
    hub: 'apiserver',
    kinds: ['AdmissionConfiguration'],
  },
  {
    apiVersion: 'apiserver.config.k8s.io/v1',
    packageName: 'apiserver/v1',
    hub: 'apiserver',
    kinds: ['EncryptionConfiguration'],
  },
  {
    apiVersion: 'apiserver.k8s.io/v1alpha1',
    packageName: 'apiserver/v1alpha1',
    hub: 'apiserver',
    kinds: ['AdmissionConfiguration'],
  },
  ...['v1alpha1', 'v1beta1'].map((version) => ({
    apiVersion: `apiserver.k8s.io/${version}`,
    packageName: `apiserver/${version}`,
    hub: 'apiserver',
    kinds: ['EgressSelectorConfiguration'],
  })),
]

/** Kinds of old files, which have no API group. */
const oldEncryptionRows: readonly Row[] = [
  {
    apiVersion: 'v1',
    packageName: 'apiserver/v1',
    hub: 'apiserver',
    hubKind: 'EncryptionConfiguration',
    kinds: ['EncryptionConfig'],
  },
]

const auditRows: readonly Row[] = [
  { apiVersion: 'audit.k8s.io/v1', packageName: 'audit/v1', hub: 'audit', kinds: ['Policy'] },
  {
    apiVersion: 'audit.k8s.io/v1',
    packageName: '',
    hub: 'audit',
    kinds: ['PolicyList', 'Event', 'EventList'],
  },
]

const kubeconfigRows: readonly Row[] = [
  { apiVersion: 'v1', packageName: 'kubeconfig/v1', hub: 'api', kinds: ['Config'] },
]

const abacRows: readonly Row[] = ['v0', 'v1beta1'].map((version) => ({
  apiVersion: `abac.authorization.kubernetes.io/${version}`,
  packageName: `abac/${version}`,
  hub: 'abac',
  kinds: ['Policy'],
}))

/**
 * Kinds and versions of the PodSecurity configuration. The configuration of each plugin has its own
 * scheme.
 */
const podSecurityRows: readonly Row[] = ['v1', 'v1beta1', 'v1alpha1'].map((version) => ({
  apiVersion: `pod-security.admission.config.k8s.io/${version}`,
  packageName: `podsecurity/${version}`,
  hub: 'api',
  kinds: ['PodSecurityConfiguration'],
}))

const resourceQuotaRows: readonly Row[] = [
  {
    apiVersion: 'apiserver.config.k8s.io/v1',
    packageName: 'resourcequota/v1',
    hub: 'resourcequota',
    hubKind: 'Configuration',
    kinds: ['ResourceQuotaConfiguration'],
  },
  ...['v1beta1', 'v1alpha1'].map((version) => ({
    apiVersion: `resourcequota.admission.k8s.io/${version}`,
    packageName: `resourcequota/${version}`,
    hub: 'resourcequota',
    kinds: ['Configuration'],
  })),
]

const webhookAdmissionRows: readonly Row[] = [
  {
    apiVersion: 'apiserver.config.k8s.io/v1',
    packageName: 'webhookadmission/v1',
    hub: 'webhookadmission',
    hubKind: 'WebhookAdmission',
    kinds: ['WebhookAdmissionConfiguration'],
  },
  {
    apiVersion: 'apiserver.config.k8s.io/v1alpha1',
    packageName: 'webhookadmission/v1alpha1',
    hub: 'webhookadmission',
    kinds: ['WebhookAdmission'],
  },
]

const eventRateLimitRows: readonly Row[] = [
  {
    apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
    packageName: 'eventratelimit/v1alpha1',
    hub: 'eventratelimit',
    kinds: ['Configuration'],
  },
]

const tolerationRows: readonly Row[] = [
  {
    apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
    packageName: 'podtolerationrestriction/v1alpha1',
    hub: 'podtolerationrestriction',
    kinds: ['Configuration'],
  },
]

/**
 * The type of a configuration that has no apiVersion or kind. Two plugins use such configurations.
 */
export const imagePolicyType = (): Struct =>
  catalogue.struct('admission/imagepolicy', 'AdmissionConfig')
export const podNodeSelectorType = (): Struct =>
  catalogue.struct('admission/podnodeselector', 'pluginConfig')

export const abacScheme = schemeOf('pkg/apis/abac/register.go:33', abacRows)
export const authenticationScheme = schemeOf(
  'pkg/kubeapiserver/options/authentication.go:852',
  apiserverRows,
)
export const authorizationScheme = schemeOf(
  'k8s.io/apiserver/pkg/apis/apiserver/load/load.go:32',
  apiserverRows,
)
export const encryptionScheme = schemeOf(
  'k8s.io/apiserver/pkg/server/options/encryptionconfig/config.go:142',
  [
    ...apiserverRows.filter(({ apiVersion }) => apiVersion === 'apiserver.config.k8s.io/v1'),
    ...oldEncryptionRows,
  ],
)
export const egressScheme = schemeOf(
  'k8s.io/apiserver/pkg/server/egressselector/config.go:33',
  apiserverRows,
)
export const tracingScheme = schemeOf(
  'k8s.io/apiserver/pkg/server/options/tracing.go:49',
  apiserverRows,
)
export const auditScheme = schemeOf('k8s.io/apiserver/pkg/audit/scheme.go:30', auditRows)
export const kubeconfigScheme = schemeOf(
  'k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50',
  kubeconfigRows,
)
/**
 * The scheme for files with an AdmissionConfiguration. As in kube-apiserver, it does not contain
 * v1beta1.
 */
export const admissionScheme = schemeOf(
  'k8s.io/apiserver/pkg/server/options/admission.go:50',
  apiserverRows.filter(({ apiVersion }) => !apiVersion.endsWith('/v1beta1')),
)
export const podSecurityScheme = schemeOf(
  'k8s.io/pod-security-admission/admission/api/scheme/scheme.go:31',
  podSecurityRows,
)
export const resourceQuotaScheme = schemeOf(
  'k8s.io/apiserver/pkg/admission/plugin/resourcequota/config.go:31',
  resourceQuotaRows,
)
export const webhookAdmissionScheme = schemeOf(
  'k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go:34',
  webhookAdmissionRows,
)
export const eventRateLimitScheme = schemeOf(
  'pkg/admission/eventratelimit/config.go:31',
  eventRateLimitRows,
)
export const podTolerationRestrictionScheme = schemeOf(
  'pkg/admission/podtolerationrestriction/config.go:32',
  tolerationRows,
)

/**
 * Returns the kinds of all configuration files, for the reference documentation. The two types of
 * configurations that have no kind are not included.
 */
export function configurationKinds(): readonly {
  readonly apiVersion: string
  readonly kind: string
  readonly struct: Struct
}[] {
  const rows = [
    ...apiserverRows,
    ...auditRows,
    ...kubeconfigRows,
    ...abacRows,
    ...podSecurityRows,
    ...resourceQuotaRows,
    ...webhookAdmissionRows,
    ...eventRateLimitRows,
    ...tolerationRows,
  ]
  return rows.flatMap(({ apiVersion, packageName, kinds }) =>
    kinds.flatMap((kind) => {
      const struct = catalogue.find(packageName, kind)
      return struct === undefined ? [] : [{ apiVersion, kind, struct }]
    }),
  )
}

function schemeOf(name: string, rows: readonly Row[]): Scheme {
  return {
    name,
    find: (apiVersion, kind) => {
      const row = rows.find((one) => one.apiVersion === apiVersion && one.kinds.includes(kind))
      // Use the string from the table. A substring of the file would keep the whole file in memory,
      // which can contain keys.
      const known = row?.kinds.find((one) => one === kind)
      return row === undefined || known === undefined ? undefined : knownKind(row, known)
    },
  }
}

function knownKind({ apiVersion, packageName, hub, hubKind }: Row, kind: string): RegisteredKind {
  const goName = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`
  return { goName, hubName: `${hub}.${hubKind ?? kind}`, struct: catalogue.find(packageName, kind) }
}
