/**
 * Decodes and validates objects of a custom kind. The type of metadata is built in; the schema of
 * the CRD describes all other fields.
 */
import type { Slice } from '../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../objects/cel/turns.ts'
import type { FieldFault } from '../../api/field-fault.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../api/object.ts'
import { checkDnsSubdomain } from '../../api/names.ts'
import { defaultMinor } from '../../api/releases.ts'
import { quote } from '../../api/quote.ts'
import { LazyValue } from '../../lib/cache/idle-cache.ts'
import type { ObjectSchema } from '../../objects/schema/object-schema.ts'
import {
  type Field,
  PARTIAL_KEYS_SINCE,
  type Schema,
  type Struct,
} from '../../objects/schema/schema.ts'
import { type Nulls, removeNulls, setDefaults } from '../../objects/schema/structural/defaults.ts'
import { validateLists } from '../../objects/schema/structural/list-types.ts'
import { pruneObject } from '../../objects/schema/structural/prune.ts'
import { readInTurns, readStructural } from '../../objects/schema/structural/read-structural.ts'
import type { Structural } from '../../objects/schema/structural/structural.ts'
import { validateValues } from '../../objects/schema/structural/validate.ts'
import { isSameValue } from '../../objects/schema/structural/value.ts'
import { validateEmbedded } from '../kinds/apiextensions/embedded-resources.ts'
import { validateMetadata, validateMetadataUpdate } from '../metadata.ts'
import type { ValidateTools } from '../resource.ts'
import { commonType } from '../types.ts'
import { CustomRules, type RuleContext } from './custom-rules.ts'
import type { Crd, CrdVersion } from './crd.ts'
import { coerceEmbedded, type MalformedHandling } from './embedded-metadata.ts'

/**
 * Values that are derived from a schema are dropped if they are not used for this long. Such values
 * take several times the memory of the schema. The first write after they were dropped takes a few
 * milliseconds longer.
 */
const UNUSED_MS = 5 * 60_000

/** Decoder and validator for one version of a CRD. */
export class CustomSchema {
  readonly #crd: Crd
  readonly #version: CrdVersion
  #struct: Struct | undefined
  readonly #structural: LazyValue<Structural>
  #loading: Promise<void> | undefined
  readonly #rules: CustomRules
  readonly #release: number

  constructor(crd: Crd, version: CrdVersion, release: number) {
    this.#crd = crd
    this.#version = version
    this.#release = release
    this.#structural = new LazyValue(() => this.#readStructural(), UNUSED_MS)
    this.#rules = new CustomRules(() => version.schema(), release, UNUSED_MS)
  }

  get struct(): Struct {
    return (this.#struct ??= customStruct(
      this.#crd.names.kind,
      () => this.structural,
      this.#release,
    ))
  }

  get structural(): Structural {
    return this.#structural.value
  }

  /**
   * Parses the schema in time slices, for callers that can wait. Returns undefined if the schema is
   * already parsed.
   */
  load(): Promise<void> | undefined {
    if (this.#structural.isCreated) return undefined
    return (this.#loading ??= this.#readInTurns().finally(() => {
      this.#loading = undefined
    }))
  }

  async #readInTurns(): Promise<void> {
    const { schema, keepsUnknown } = this.#given()
    this.#structural.set(await inTurns((slice) => readInTurns(schema, { keepsUnknown, slice })))
  }

  #readStructural(): Structural {
    const { schema, keepsUnknown } = this.#given()
    return readStructural(schema, { keepsUnknown })
  }

  /** Returns the schema of the version. Old CRDs can have no schema. */
  #given(): { readonly schema: Fields; readonly keepsUnknown: boolean } {
    const schema = this.#version.schema()
    return {
      schema,
      keepsUnknown: this.#crd.keepsUnknown || Object.keys(schema).length === 0,
    }
  }

  #coerce(object: Fields, malformed?: MalformedHandling): ReturnType<typeof coerceEmbedded> {
    const release = this.#release
    return coerceEmbedded(
      object,
      this.structural,
      malformed === undefined ? { release } : { release, malformed },
    )
  }

  get apiVersion(): string {
    return `${this.#crd.group}/${this.#version.name}`
  }

  /**
   * Returns how objects of this version are decoded and stored. `all` contains the schemas of all
   * versions, keyed by version name.
   */
  shape(all: ReadonlyMap<string, CustomSchema>): ObjectSchema {
    const { storageVersion, webhook } = this.#crd
    const isConverted = storageVersion !== this.#version.name && webhook === undefined
    const stored = isConverted ? all.get(storageVersion) : undefined
    return {
      struct: this.struct,
      setDefaults: (object) => this.setDefaults(object),
      refuse: (object) => this.#coerce(object).refusal,
      custom: {
        storedVersion: `${this.#crd.group}/${storageVersion}`,
        hasOldVersions: this.#crd.storedVersions.some((name) => name !== storageVersion),
        prune: (object) => this.prune(object),
        setDefaultsAroundNulls: (object) => this.setDefaults(object, 'kept'),
        fromStored: (object) => this.fromStored(object, all),
        isCurrent: (object) =>
          stored === undefined
            ? this.#whole(object, all) === object
            : isSameValue(stored.#converted(this.fromStored(object, all)), object),
      },
      stored: stored && {
        apiVersion: stored.apiVersion,
        struct: stored.struct,
        toStored: (object) => stored.#converted(object),
        fromStored: (object) => this.fromStored(object, all),
      },
      scheme: { name: customSchemeName(this.#release), find: () => undefined },
    }
  }

  /**
   * Converts a stored object to this version. Defaults come from the version in which the object is
   * stored. This version only removes unknown fields.
   */
  fromStored(object: KubeObject, all: ReadonlyMap<string, CustomSchema>): KubeObject {
    const whole = this.#whole(object, all)
    // If the CRD has a conversion webhook, the webhook converts objects between versions.
    if (this.#readBy(object, all) === this || this.#crd.webhook !== undefined) return whole
    return this.#converted(whole)
  }

  /** Converts an object from another version to this one. */
  #converted(object: KubeObject): KubeObject {
    const pruned = this.prune({ ...object, apiVersion: this.apiVersion }).object
    const kept = removeNulls(pruned, this.structural)
    return kept === pruned ? pruned : withHead(fieldsOf(kept), pruned)
  }

  #whole(object: KubeObject, all: ReadonlyMap<string, CustomSchema>): KubeObject {
    const schema = this.#readBy(object, all)
    return schema.setDefaults(schema.prune(object, 'dropped').object)
  }

  #readBy({ apiVersion }: KubeObject, all: ReadonlyMap<string, CustomSchema>): CustomSchema {
    return all.get(apiVersion.slice(apiVersion.indexOf('/') + 1)) ?? this
  }

  prune(
    object: KubeObject,
    malformed?: MalformedHandling,
  ): { readonly object: KubeObject; readonly faults: readonly string[] } {
    const { value, unknown } = pruneObject(object, this.structural)
    const embedded = this.#coerce(value, malformed)
    const faults = [...unknown, ...embedded.unknown].map((path) => `unknown field ${quote(path)}`)
    const kept = fieldsOf(embedded.value)
    return { object: kept === object ? object : withHead(kept, object), faults }
  }

  /**
   * Sets defaults. A default can contain metadata of an embedded object, which is coerced to the
   * type of metadata.
   */
  setDefaults(object: KubeObject, nulls: Nulls = 'removed'): KubeObject {
    const whole = setDefaults(object, this.structural, nulls)
    return whole === object
      ? object
      : withHead(fieldsOf(this.#coerce(fieldsOf(whole)).value), object)
  }

  validate(object: KubeObject, tools?: ValidateTools): Promise<FieldFault[]> {
    const { isNamespaced } = this.#crd
    const metadataFaults = (): FieldFault[] =>
      validateMetadata(object.metadata, { isNamespaced, checkName: checkDnsSubdomain })
    return this.#validate(
      object,
      { metadataFaults },
      { tools, values: (slice) => this.#valuesOf(object, slice) },
    )
  }

  validateUpdate(
    object: KubeObject,
    current: KubeObject,
    tools?: ValidateTools,
  ): Promise<FieldFault[]> {
    const context = { current, metadataFaults: () => updateFaults(object, current) }
    return this.#validate(object, context, {
      tools,
      values: (slice) => this.#valuesOf(object, slice, current),
    })
  }

  /** Validates only the status. The spec is not validated again. */
  validateStatus(
    object: KubeObject,
    current: KubeObject,
    tools?: ValidateTools,
  ): Promise<FieldFault[]> {
    const context = { current, metadataFaults: () => updateFaults(object, current) }
    return this.#validate(object, context, {
      tools,
      values: (slice) => this.#statusOf(object, slice, current),
    })
  }

  *#valuesOf(object: KubeObject, slice: Slice, current?: KubeObject): Turns<FieldFault[]> {
    const { structural } = this
    return [
      ...(yield* validateValues(object, structural, { old: current, slice })),
      ...validateEmbedded(object, structural, '', false),
      ...(yield* validateLists(object, structural, { old: current, slice })),
    ]
  }

  *#statusOf({ status }: KubeObject, slice: Slice, current: KubeObject): Turns<FieldFault[]> {
    const schema = this.structural.properties?.get('status')
    const old = current['status']
    if (schema === undefined || status === undefined) return []
    const faults = yield* validateValues(status, schema, { prefix: 'status', old, slice })
    const ofLists = yield* validateLists(status, schema, { old, slice })
    return [...faults, ...ofLists.map((fault) => ({ ...fault, path: `status.${fault.path}` }))]
  }

  async #validate(
    object: KubeObject,
    context: Context,
    { tools, values }: Work,
  ): Promise<FieldFault[]> {
    const rules = this.#rules
    const root = await rules.compiled()
    const schema = this.structural
    return await inTurns(function* (slice) {
      return yield* rules.validate(object, yield* values(slice), {
        ...context,
        root,
        schema,
        slice,
        warn: tools?.warn,
      })
    }, tools)
  }
}

type Context = Omit<RuleContext, 'root' | 'schema' | 'slice' | 'warn'>
type Work = {
  readonly tools: ValidateTools | undefined
  readonly values: (slice: Slice) => Turns<FieldFault[]>
}

const updateFaults = ({ metadata }: KubeObject, current: KubeObject): FieldFault[] =>
  validateMetadataUpdate(metadata, current.metadata)

const withHead = (fields: Fields, { kind, apiVersion, metadata }: KubeObject): KubeObject => ({
  ...fields,
  kind,
  apiVersion,
  metadata,
})

/**
 * Name of the scheme of custom kinds in kube-apiserver's errors. It contains a line number of the
 * source, which depends on the release.
 */
export function customSchemeName(release: number): string {
  const line = release < 34 ? 725 : release === 34 ? 730 : 781
  return `k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:${line}`
}

/**
 * Returns the type of a custom kind. All fields are serialized in order of their names, including
 * those of metadata.
 */
export function customStruct(kind: string, open: () => Structural, release = defaultMinor): Struct {
  const fields = headFields()
  return {
    ...emptyStruct,
    hasPartialKeys: release >= PARTIAL_KEYS_SINCE,
    open,
    name: kind,
    goName: kind,
    fields,
    byName: new Map(fields.map((field) => [field.name, field])),
  }
}

const emptyStruct = {
  type: 'struct',
  packageName: '',
  isAtomic: false,
  defaults: undefined,
  embedded: [],
} as const

const known = new Map<string, readonly Field[]>()

/** Returns the fields that all custom kinds have. They are created once and shared. */
function headFields(): readonly Field[] {
  const made =
    known.get('head') ?? commonType('meta/v1', 'PartialObjectMetadata').fields.map(sortedField)
  known.set('head', made)
  return made
}

const sortedField = (field: Field): Field => ({
  ...field,
  schema: sortedSchema(field.schema),
  // Every object has a creationTimestamp, except for the pseudo-object of a bookmark event.
  ...(field.name === 'creationTimestamp' ? { omit: 'absent' } : {}),
})

function sortedSchema(schema: Schema): Schema {
  if (schema.type === 'list' || schema.type === 'map')
    return { ...schema, of: sortedSchema(schema.of) }
  if (schema.type !== 'struct') return schema
  const fields = schema.fields
    .map(sortedField)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  return { ...schema, fields, byName: new Map(fields.map((field) => [field.name, field])) }
}
