/** Rules for mounting the Pod's volumes in a container, as file systems or as block devices. */
import {
  forbiddenField,
  invalidValue,
  notSupported,
  notThere,
  required,
} from '../../../../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../../../api/object.ts'
import { addKey, keysOf } from '../../../../lib/scheduling/long-lists.ts'
import { once } from '../../../../lib/scheduling/parts.ts'
import { eachIn } from '../../../rules/rule.ts'
import { relativePath } from '../../../rules/scalars.ts'
import type { PodCheck } from './check.ts'

const propagations = ['Bidirectional', 'HostToContainer', 'None'] as const
const recursions = ['Disabled', 'Enabled', 'IfPossible'] as const

/** Validates mounts. Most errors have the path of the list instead of the item. */
export function volumeMounts(container: Fields, path: string, check: PodCheck): void {
  const devices = itemsOf(container['volumeDevices'])
  const deviceNames = keysOf(devices, ({ name }) => name)
  const devicePaths = keysOf(devices, ({ devicePath }) => devicePath)
  const paths = once('paths of mounts', () => new Set<string>())
  eachIn(itemsOf(container['volumeMounts']), check, (mount, at, inner) => {
    const { faults } = inner
    const name = textOf(mount['name'])
    const mountPath = textOf(mount['mountPath'])
    const own = `${path}[${at}]`
    if (name === '') faults.push(required(`${own}.name`))
    if (mountPath === '') faults.push(required(`${own}.mountPath`))
    if (!addKey(paths, mountPath))
      faults.push(invalidValue(`${own}.mountPath`, mountPath, 'must be unique'))
    if (!inner.volumes.has(name)) faults.push(notThere(`${own}.name`, name))
    if (deviceNames.has(mount['name']))
      faults.push(invalidValue(`${own}.name`, name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mount['mountPath'])) {
      const why = 'must not already exist as a path in volumeDevices'
      faults.push(invalidValue(`${own}.mountPath`, mountPath, why))
    }
    mountOptions(mount, { list: path, own, container, check: inner })
  })
}

type ContainerContext = {
  readonly list: string
  readonly own: string
  readonly container: Fields
  readonly check: PodCheck
}

function mountOptions(mount: Fields, { list, own, container, check }: ContainerContext): void {
  const subPath = textOf(mount['subPath'])
  const subPathExpr = textOf(mount['subPathExpr'])
  if (subPath !== '') relativePath(subPath, `${list}.subPath`, check)
  if (subPathExpr !== '') {
    if (subPath !== '') {
      const why = 'subPathExpr and subPath are mutually exclusive'
      check.faults.push(invalidValue(`${own}.subPathExpr`, subPathExpr, why))
    }
    relativePath(subPathExpr, `${list}.subPathExpr`, check)
  }
  propagation(mount['mountPropagation'], `${list}.mountPropagation`, { container, check })
  recursiveReadOnly(mount, `${list}.recursiveReadOnly`, check)
}

function propagation(
  value: Json | undefined,
  path: string,
  { container, check }: Pick<ContainerContext, 'container' | 'check'>,
): void {
  if (value === undefined) return
  const text = textOf(value)
  if (!propagations.some((known) => known === text))
    check.faults.push(notSupported(path, text, propagations))
  const isPrivileged = fieldsOf(container['securityContext'])['privileged'] === true
  if (text !== 'Bidirectional' || isPrivileged) return
  const why = 'Bidirectional mount propagation is available only to privileged containers'
  check.faults.push(forbiddenField(path, why))
}

function recursiveReadOnly(mount: Fields, path: string, { faults }: PodCheck): void {
  const { recursiveReadOnly: value, readOnly, mountPropagation } = mount
  if (value === undefined) return
  const text = textOf(value)
  if (!recursions.some((known) => known === text)) {
    faults.push(notSupported(path, text, recursions))
    return
  }
  if (text === 'Disabled') return
  if (readOnly !== true)
    faults.push(forbiddenField(path, 'may only be specified when readOnly is true'))
  if (mountPropagation === undefined || mountPropagation === 'None') return
  faults.push(
    forbiddenField(path, 'may only be specified when mountPropagation is None or not specified'),
  )
}

export function volumeDevices(container: Fields, path: string, check: PodCheck): void {
  const devices = itemsOf(container['volumeDevices'])
  if (devices.length === 0) return
  const mounts = itemsOf(container['volumeMounts'])
  const mountNames = keysOf(mounts, ({ name }) => name)
  const mountPaths = keysOf(mounts, ({ mountPath }) => mountPath)
  const names = once('names of devices', () => new Set<string>())
  const paths = once('paths of devices', () => new Set<string>())
  eachIn(devices, check, (device, at, { faults, volumes }) => {
    const name = textOf(device['name'])
    const devicePath = textOf(device['devicePath'])
    const own = `${path}[${at}]`
    const volume = volumes.get(name)
    if (name === '') faults.push(required(`${own}.name`))
    if (names.has(name)) faults.push(invalidValue(`${own}.name`, name, 'must be unique'))
    if (
      volume !== undefined &&
      volume['persistentVolumeClaim'] === undefined &&
      volume['ephemeral'] === undefined
    ) {
      const why =
        'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      faults.push(invalidValue(`${own}.name`, name, why))
    }
    if (volume === undefined) faults.push(notThere(`${own}.name`, name))
    if (devicePath === '') faults.push(required(`${own}.devicePath`))
    if (paths.has(devicePath))
      faults.push(invalidValue(`${own}.devicePath`, devicePath, 'must be unique'))
    if (devicePath.split('/').includes('..')) {
      faults.push(invalidValue(`${own}.devicePath`, devicePath, "can not contain backsteps ('..')"))
    } else paths.add(devicePath)
    if (mountNames.has(device['name'])) {
      faults.push(invalidValue(`${own}.name`, name, 'must not already exist in volumeMounts'))
    }
    if (mountPaths.has(device['devicePath'])) {
      faults.push(
        invalidValue(
          `${own}.devicePath`,
          devicePath,
          'must not already exist as a path in volumeMounts',
        ),
      )
    }
    if (name !== '') names.add(name)
  })
}
