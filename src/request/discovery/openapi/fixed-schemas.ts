/**
 * Definitions of types that have a special JSON representation. They are not in the catalog of
 * built-in types.
 */
import { linesOfRelease } from '../../../objects/schema/release-lines.ts'
import type { Fields } from '../../../api/object.ts'
import type { Descriptions } from './descriptions.ts'

const machinery = 'io.k8s.apimachinery.pkg'
const extensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

export const definition = {
  patch: `${machinery}.apis.meta.v1.Patch`,
  watchEvent: `${machinery}.apis.meta.v1.WatchEvent`,
  version: `${machinery}.version.Info`,
} as const

/** Definition names, by the name of the type in Go's error messages. */
export const fixedNames: ReadonlyMap<string, string> = new Map([
  ['v1.Time', `${machinery}.apis.meta.v1.Time`],
  ['v1.MicroTime', `${machinery}.apis.meta.v1.MicroTime`],
  ['v1.FieldsV1', `${machinery}.apis.meta.v1.FieldsV1`],
  ['resource.Quantity', `${machinery}.api.resource.Quantity`],
  ['intstr.IntOrString', `${machinery}.util.intstr.IntOrString`],
  ['runtime.RawExtension', `${machinery}.runtime.RawExtension`],
  ...[
    'JSON',
    'JSONSchemaPropsOrArray',
    'JSONSchemaPropsOrBool',
    'JSONSchemaPropsOrStringArray',
  ].map((name): [string, string] => [`v1.${name}`, `${extensions}.${name}`]),
])

type GroupVersion = { readonly group: string; readonly version: string }

/**
 * All groups and versions that exist or existed in the source of a release. The definitions of
 * types that all groups share list all of them.
 */
export const everyGroupVersion = (release: number): readonly GroupVersion[] =>
  linesOfRelease(groupVersions, release)
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [group = '', ...versions] = line === 'v1' ? ['', 'v1'] : line.split(' ')
      return versions.map((version) => ({ group, version }))
    })

/** Marks such as `@33` are described in objects/schema/release-lines.ts. */
const groupVersions = `
v1
admission.k8s.io v1 v1beta1
admissionregistration.k8s.io v1 v1alpha1 v1beta1
apiextensions.k8s.io v1 v1beta1
apiregistration.k8s.io v1 v1beta1
apps v1 v1beta1 v1beta2
authentication.k8s.io v1 v1alpha1 v1beta1
authorization.k8s.io v1 v1beta1
autoscaling v1 v2 v2beta1 v2beta2
batch v1 v1beta1
certificates.k8s.io v1 v1alpha1 v1beta1
coordination.k8s.io v1 v1alpha2 v1beta1
discovery.k8s.io v1 v1beta1
events.k8s.io v1 v1beta1
extensions v1beta1
flowcontrol.apiserver.k8s.io v1 v1beta1 v1beta2 v1beta3
imagepolicy.k8s.io v1alpha1
internal.apiserver.k8s.io v1alpha1
networking.k8s.io v1 v1alpha1 v1beta1 @33
networking.k8s.io v1 v1beta1 @34+
node.k8s.io v1 v1alpha1 v1beta1
policy v1 v1beta1
rbac.authorization.k8s.io v1 v1alpha1 v1beta1
resource.k8s.io v1alpha3 v1beta1 v1beta2 @33
resource.k8s.io v1 v1alpha3 v1beta1 v1beta2 @34+
scheduling.k8s.io v1 v1alpha1 v1beta1
storage.k8s.io v1 v1alpha1 v1beta1
storagemigration.k8s.io v1alpha1 @33-34
storagemigration.k8s.io v1beta1 @35+
`

/** Groups that documents of custom resources do not list. */
export const unknownToCustom: ReadonlySet<string> = new Set([
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
])

const rawRef = `#/components/schemas/${machinery}.runtime.RawExtension`

export function fixedSchemas(
  descriptions: Descriptions,
  release: number,
): ReadonlyMap<string, Fields> {
  const describe = (type: string, field?: string) => descriptions.of(type, field)
  return new Map<string, Fields>([
    [
      `${machinery}.apis.meta.v1.Time`,
      { description: describe('Time'), format: 'date-time', type: 'string' },
    ],
    [
      `${machinery}.apis.meta.v1.MicroTime`,
      { description: describe('MicroTime'), format: 'date-time', type: 'string' },
    ],
    [`${machinery}.apis.meta.v1.FieldsV1`, { description: describe('FieldsV1'), type: 'object' }],
    [
      `${machinery}.api.resource.Quantity`,
      { description: describe('Quantity'), oneOf: [{ type: 'string' }, { type: 'number' }] },
    ],
    [
      `${machinery}.util.intstr.IntOrString`,
      {
        description: describe('IntOrString'),
        format: 'int-or-string',
        oneOf: [{ type: 'integer' }, { type: 'string' }],
      },
    ],
    [
      `${machinery}.runtime.RawExtension`,
      { description: describe('RawExtension'), type: 'object' },
    ],
    [definition.patch, { description: describe('Patch'), type: 'object' }],
    [
      definition.watchEvent,
      {
        description: describe('WatchEvent'),
        properties: {
          object: { allOf: [{ $ref: rawRef }], description: describe('WatchEvent', 'object') },
          type: { default: '', description: describe('WatchEvent', 'type'), type: 'string' },
        },
        required: ['type', 'object'],
        type: 'object',
        'x-kubernetes-group-version-kind': everyGroupVersion(release).map(({ group, version }) => ({
          group,
          kind: 'WatchEvent',
          version,
        })),
      },
    ],
    [definition.version, versionSchema(describe)],
    [`${extensions}.JSON`, { description: describe('JSON') }],
    [`${extensions}.JSONSchemaPropsOrArray`, { description: describe('JSONSchemaPropsOrArray') }],
    [`${extensions}.JSONSchemaPropsOrBool`, { description: describe('JSONSchemaPropsOrBool') }],
    [
      `${extensions}.JSONSchemaPropsOrStringArray`,
      { description: describe('JSONSchemaPropsOrStringArray') },
    ],
  ])
}

function versionSchema(describe: Descriptions['of']): Fields {
  const required =
    'major minor gitVersion gitCommit gitTreeState buildDate goVersion compiler platform'.split(' ')
  const optional =
    'emulationMajor emulationMinor minCompatibilityMajor minCompatibilityMinor'.split(' ')
  const properties = [...required, ...optional].toSorted().map((name): [string, Fields] => {
    const zero = required.includes(name) ? { default: '' } : {}
    return [name, { ...zero, description: describe('Info', name), type: 'string' }]
  })
  const description = describe('Info')
  return { description, properties: Object.fromEntries(properties), required, type: 'object' }
}
