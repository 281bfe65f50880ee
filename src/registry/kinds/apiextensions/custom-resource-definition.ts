/**
 * Rules for CustomResourceDefinitions. Other files in this directory contain the rules for their
 * parts; a controller maintains their conditions.
 */
import {
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { defaultGates, type Gates } from '../../../api/gates.ts'
import { goStrings } from '../../../api/go-value.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../../objects/cel/turns.ts'
import type { KindRules } from '../../kind-rules.ts'
import { withoutDash } from '../../metadata.ts'
import { formatWarnings } from './format-warnings.ts'
import { crdDeletion } from './crd-deletion.ts'
import { validateNames } from './crd-names.ts'
import { validateSpec } from './crd-spec.ts'
import { fromStoredSpec, toStoredSpec } from './stored-form.ts'

const WEBHOOK_PORT = 443

export const customResourceDefinitionRules: KindRules = {
  strategy: {
    names: 'any',
    finalizersNeedNoDomain: true,
    needsResourceVersion: true,
    generation: { fields: ['spec'] },
    resetPaths: { status: ['spec', 'metadata'] },
  },
  setDefaults,
  prepareCreate: (object) => withStorageVersion({ ...object, status: {} }),
  prepareUpdate: (object) => withStorageVersion(object),
  ownDeletion: crdDeletion,
  validate: () => [],
  warnings: (object, current, { release }) => [
    ...formatWarnings(specOf(object), current && specOf(current), release),
  ],
  // Validation runs in time slices, because a schema can have thousands of CEL rules and patterns
  // to compile.
  validateInSlices: (object, current, tools, gates = defaultGates) =>
    inTurns(
      (slice) =>
        current === undefined
          ? validate(object, { gates, slice })
          : validateUpdate(object, current, { gates, slice }),
      tools,
    ),
  status: { validateUpdate: (object) => validateAcceptedNames(object) },
  convert: {
    toStored: (object) => ({ ...object, spec: toStoredSpec(specOf(object)) }),
    fromStored: (object) => ({ ...object, spec: fromStoredSpec(specOf(object)) }),
  },
}

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])
const statusOf = (object: KubeObject): Fields => fieldsOf(object['status'])

function setDefaults(object: KubeObject): KubeObject {
  const spec = specOf(object)
  const names = fieldsOf(spec['names'])
  const kind = textOf(names['kind'])
  const isStored = textsOf(statusOf(object)['storedVersions']).length > 0
  return {
    ...(isStored ? object : withStorageVersion(object)),
    spec: {
      ...spec,
      names: {
        ...names,
        singular: textOf(names['singular']) || kind.toLowerCase(),
        listKind: textOf(names['listKind']) || (kind === '' ? '' : `${kind}List`),
      },
      conversion: isFields(spec['conversion'])
        ? withPort(spec['conversion'])
        : { strategy: 'None' },
    },
  }
}

function withPort(conversion: Fields): Fields {
  const { webhook } = conversion
  const clientConfig = fieldsOf(webhook)['clientConfig']
  const service = fieldsOf(clientConfig)['service']
  if (!isFields(webhook) || !isFields(clientConfig) || !isFields(service)) return conversion
  const port = service['port'] ?? WEBHOOK_PORT
  return {
    ...conversion,
    webhook: { ...webhook, clientConfig: { ...clientConfig, service: { ...service, port } } },
  }
}

/**
 * Adds the storage version to storedVersions, the list of all current and former storage versions.
 */
function withStorageVersion(object: KubeObject): KubeObject {
  const status = statusOf(object)
  const stored = textsOf(status['storedVersions'])
  const storage = itemsOf(specOf(object)['versions']).find((version) => version['storage'] === true)
  const name = textOf(storage?.['name'])
  if (storage === undefined || stored.includes(name)) return object
  return { ...object, status: { ...status, storedVersions: [...stored, name] } }
}

function validateName(object: KubeObject): FieldFault[] {
  const { name = '', generateName = '' } = object.metadata
  const spec = specOf(object)
  const wanted = `${textOf(fieldsOf(spec['names'])['plural'])}.${textOf(spec['group'])}`
  const faultsOf = (path: string, given: string, checked: string): FieldFault[] => [
    ...checkDnsSubdomain(checked).map((why) => invalidValue(path, given, why)),
    ...(given === wanted
      ? []
      : [invalidValue(path, given, 'must be spec.names.plural+"."+spec.group')]),
  ]
  return [
    ...(generateName === ''
      ? []
      : faultsOf('metadata.generateName', generateName, withoutDash(generateName))),
    ...(name === '' ? [] : faultsOf('metadata.name', name, name)),
  ]
}

type SpecContext = { readonly gates: Gates; readonly slice: Slice }

function* validate(object: KubeObject, context: SpecContext): Turns<FieldFault[]> {
  return [
    ...validateName(object),
    ...(yield* validateSpec(specOf(object), context)),
    ...validateStatus(object),
    ...validateApproval(object),
    ...validatePreserving(object),
  ]
}

function* validateUpdate(
  object: KubeObject,
  current: KubeObject,
  context: SpecContext,
): Turns<FieldFault[]> {
  const [spec, was] = [specOf(object), specOf(current)]
  const isEstablished = itemsOf(statusOf(current)['conditions']).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
  const fixed = [...(isEstablished ? ['scope', 'names.kind'] : []), 'group', 'names.plural']
  return [
    ...(yield* validateSpec(spec, context, { was, isEstablished })),
    ...fixed.flatMap((path) => validateFixed(spec, was, path)),
    ...validateStatus(object),
    ...validateApproval(object, current),
    ...validatePreserving(object, current),
  ]
}

function validateFixed(spec: Fields, was: Fields, path: string): FieldFault[] {
  const [value, before] = [textAt(spec, path), textAt(was, path)]
  return value === before ? [] : [invalidValue(`spec.${path}`, value, 'field is immutable')]
}

function textAt(spec: Fields, path: string): string {
  let value: Json | undefined = spec
  for (const name of path.split('.')) value = fieldsOf(value)[name]
  return textOf(value)
}

function validateStatus(object: KubeObject): FieldFault[] {
  const stored = textsOf(statusOf(object)['storedVersions'])
  const path = 'status.storedVersions'
  const shown = goStrings(stored)
  if (stored.length === 0)
    return [invalidShown(path, shown, 'must have at least one stored version')]
  const versions = itemsOf(specOf(object)['versions'])
  const storedNames = new Set(stored)
  const names = new Set(versions.map(({ name }) => textOf(name)))
  // Each name in storedVersions matches only one version. As in kube-apiserver, a storage version
  // with the same name as an earlier version is therefore reported as missing.
  const missing = versions
    .filter(({ name, storage }) => !storedNames.delete(textOf(name)) && storage === true)
    .map(({ name }) => invalidShown(path, shown, `must have the storage version ${textOf(name)}`))
  const gone = faultsOfEach(stored, (name, at) =>
    names.has(name) ? [] : [invalidValue(`${path}[${at}]`, name, deleteForbiddenReason(name))],
  )
  return [...validateAcceptedNames(object), ...missing, ...gone]
}

const deleteForbiddenReason = (name: string): string =>
  `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`

const validateAcceptedNames = (object: KubeObject): FieldFault[] =>
  validateNames(fieldsOf(statusOf(object)['acceptedNames']), 'status.acceptedNames')

const approval = 'api-approved.kubernetes.io'
const policy = 'see https://github.com/kubernetes/enhancements/pull/1111'

/**
 * Requires an approval annotation for the API groups of Kubernetes itself. A CRD that was stored
 * without the annotation can remain without it.
 */
function validateApproval(object: KubeObject, current?: KubeObject): FieldFault[] {
  const group = textOf(specOf(object)['group'])
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(group)) return []
  const text = approvalOf(object)
  const path = `metadata.annotations[${approval}]`
  if (current !== undefined && !isApproval(approvalOf(current)) && approvalOf(current) === text)
    return []
  if (text === '') {
    return [
      required(path, `protected groups must have approval annotation "${approval}", ${policy}`),
    ]
  }
  if (isApproval(text)) return []
  const why = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", ${policy}`
  return [invalidValue(path, text, why)]
}

const approvalOf = ({ metadata }: KubeObject): string => metadata.annotations?.[approval] ?? ''

const isApproval = (text: string): boolean => text.startsWith('unapproved') || URL.canParse(text)

/**
 * Refuses preserveUnknownFields in new CRDs, which must instead use a keyword in their schemas. Old
 * CRDs can keep it.
 */
function validatePreserving(object: KubeObject, current?: KubeObject): FieldFault[] {
  if (!preserves(object) || (current !== undefined && preserves(current))) return []
  const why =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalidValue('spec.preserveUnknownFields', true, why)]
}

const preserves = (crd: KubeObject): boolean => specOf(crd)['preserveUnknownFields'] === true
