/** The parts of a CustomResourceDefinition that are needed to serve its custom objects. */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../api/object.ts'

export type Crd = {
  /** Name of the CRD. It consists of the plural and the group, as in `widgets.example.com`. */
  readonly name: string
  readonly uid: string
  readonly generation: number
  readonly group: string
  readonly names: Names
  readonly isNamespaced: boolean
  /**
   * Whether the CRD is terminating: its objects are being deleted, and new ones cannot be created.
   */
  readonly isTerminating: boolean
  readonly versions: readonly CrdVersion[]
  readonly storageVersion: string
  /** Versions in which objects can be stored. */
  readonly storedVersions: readonly string[]
  /**
   * Whether `preserveUnknownFields` is set. Fields that are not in the schema are then preserved.
   * Only old CRDs can set it.
   */
  readonly keepsUnknown: boolean
  /**
   * Configuration of the conversion webhook. Undefined if there is no webhook; the versions then
   * differ only in their apiVersion.
   */
  readonly webhook: Fields | undefined
}

export type Names = {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

export type CrdVersion = {
  readonly name: string
  readonly isServed: boolean
  /**
   * Text of the deprecation warning. An empty string stands for the server's default text.
   * Undefined if the version is not deprecated.
   */
  readonly deprecation: string | undefined
  readonly hasStatus: boolean
  readonly scale: ScalePaths | undefined
  readonly selectableFields: readonly string[]
  readonly columns: readonly PrinterColumn[]
  /**
   * Returns the schema of the version. It is parsed on every call and not retained, because schemas
   * are large and most CRDs are never used.
   */
  readonly schema: () => Fields
}

export type ScalePaths = {
  readonly spec: string
  readonly status: string
  readonly selector: string
}

export type PrinterColumn = {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
  readonly path: string
}

/**
 * Reads a stored CRD with its accepted names. `again` reads the CRD again when a schema is needed,
 * so that the schemas are not retained in memory.
 */
export function readCrd(object: KubeObject, again: () => KubeObject = () => object): Crd {
  const spec = fieldsOf(object['spec'])
  const status = fieldsOf(object['status'])
  const versions = itemsOf(spec['versions'])
  const conversion = fieldsOf(spec['conversion'])
  return {
    name: object.metadata.name ?? '',
    uid: object.metadata.uid ?? '',
    generation: object.metadata.generation ?? 0,
    group: textOf(spec['group']),
    names: readNames(fieldsOf(status['acceptedNames'])),
    isNamespaced: spec['scope'] === 'Namespaced',
    isTerminating: isTerminatingCrd(object),
    versions: versions.map((version, at) => readVersion(version, () => schemaOf(again(), at))),
    storageVersion: textOf(versions.find((version) => version['storage'] === true)?.['name']),
    storedVersions: textsOf(status['storedVersions']),
    keepsUnknown: spec['preserveUnknownFields'] === true,
    webhook: conversion['strategy'] === 'Webhook' ? fieldsOf(conversion['webhook']) : undefined,
  }
}

/**
 * Whether a CRD has the condition Terminating. As in kube-apiserver, the condition is no longer
 * true when the objects of the CRD have been deleted. This is the case even if another finalizer
 * still prevents the removal of the CRD.
 */
export const isTerminatingCrd = (crd: KubeObject): boolean =>
  itemsOf(fieldsOf(crd['status'])['conditions']).some(
    ({ type, status }) => type === 'Terminating' && status === 'True',
  )

/**
 * Reason of the condition Terminating while the last objects of a CRD are deleted. kube-apiserver
 * does not have this reason.
 */
export const closedReason = 'InstanceCreationStopped'

/**
 * Whether no request, not even an apply, can create objects of a CRD. This is the case while the
 * last objects of a terminating CRD are deleted. Earlier during the termination, an apply can still
 * create objects, as in kube-apiserver.
 */
export const isClosedCrd = (crd: KubeObject): boolean =>
  itemsOf(fieldsOf(crd['status'])['conditions']).some(
    ({ type, reason }) => type === 'Terminating' && reason === closedReason,
  )

/**
 * Returns a key that changes if a change of the CRD requires that its objects are decoded again.
 */
export const formOf = ({ uid, generation, names, storedVersions }: Crd): string =>
  JSON.stringify([uid, generation, names, storedVersions])

/**
 * Maximum number of short names that are used. Further names are ignored, because each name is
 * compared with the names of all other CRDs.
 */
const SHORT_NAMES_MAX = 1_000

export const readNames = (names: Fields): Names => ({
  plural: textOf(names['plural']),
  singular: textOf(names['singular']),
  kind: textOf(names['kind']),
  listKind: textOf(names['listKind']),
  shortNames: textsOf(names['shortNames']).slice(0, SHORT_NAMES_MAX),
  categories: textsOf(names['categories']),
})

const schemaOf = (object: KubeObject, at: number): Fields =>
  fieldsOf(
    fieldsOf(itemsOf(fieldsOf(object['spec'])['versions'])[at]?.['schema'])['openAPIV3Schema'],
  )

function readVersion(version: Fields, schema: () => Fields): CrdVersion {
  const { status, scale } = fieldsOf(version['subresources'])
  const paths = fieldsOf(scale)
  return {
    name: textOf(version['name']),
    isServed: version['served'] === true,
    deprecation: version['deprecated'] === true ? textOf(version['deprecationWarning']) : undefined,
    hasStatus: status !== undefined && status !== null,
    scale:
      scale === undefined || scale === null
        ? undefined
        : {
            spec: textOf(paths['specReplicasPath']),
            status: textOf(paths['statusReplicasPath']),
            selector: textOf(paths['labelSelectorPath']),
          },
    selectableFields: itemsOf(version['selectableFields']).map(({ jsonPath }) => textOf(jsonPath)),
    columns: itemsOf(version['additionalPrinterColumns']).map(readColumn),
    schema,
  }
}

const readColumn = (column: Fields): PrinterColumn => ({
  name: textOf(column['name']),
  type: textOf(column['type']),
  format: textOf(column['format']),
  description: textOf(column['description']),
  priority: numberOf(column['priority']),
  path: textOf(column['jsonPath']),
})
