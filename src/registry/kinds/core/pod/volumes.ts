/** Rules for the volumes of a Pod. */
import {
  duplicate,
  type FieldFault,
  forbiddenField,
  invalidValue,
  required,
} from '../../../../api/field-fault.ts'
import { checkDnsLabel } from '../../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  numberOf,
  textOf,
} from '../../../../api/object.ts'
import { addKey } from '../../../../lib/scheduling/long-lists.ts'
import { eachItem, once } from '../../../../lib/scheduling/parts.ts'
import { labelMap } from '../../../rules/label-selector.ts'
import {
  each,
  eachIn,
  fields,
  ifPresent,
  isEmpty,
  needed,
  unlessEmpty,
} from '../../../rules/rule.ts'
import { fileMode, oneOf, visiblePath } from '../../../rules/scalars.ts'
import { claimSpec } from '../claim-spec.ts'
import type { PodCheck, PodRule } from './check.ts'
import { fieldRef, resourceFieldRef, volumePaths } from './downward.ts'
import { trustBundle } from './trust-bundle.ts'
import { volumeSources } from './volume-sources.ts'

const TOKEN_SECONDS_MIN = 10 * 60
const TOKEN_SECONDS_MAX = 2 ** 32
const ISCSI_NAME_CHARACTERS_MAX = 64

/** Rule for a list of files that are created from keys of a Secret or ConfigMap. */
const keyFiles: PodRule = each(
  fields({ key: needed(), path: needed(visiblePath), mode: ifPresent(fileMode) }),
)

const reference: PodRule = (value, path, check) => {
  const { fieldRef: field, resourceFieldRef: amount } = fieldsOf(value)
  if (field !== undefined) {
    if (amount !== undefined) {
      const why = 'fieldRef and resourceFieldRef can not be specified simultaneously'
      check.faults.push(invalidValue(path, 'resource', why))
    }
    fieldRef(volumePaths)(field, `${path}.fieldRef`, check)
  } else if (amount !== undefined)
    resourceFieldRef({ isVolume: true })(amount, `${path}.resourceFieldRef`, check)
  else check.faults.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
}

/** Rule for a file of the downward API. Errors in an item have the path of the volume. */
const downwardFile: PodRule = (value, path, check) => {
  const { path: file, mode } = fieldsOf(value)
  needed(visiblePath)(file, `${path}.path`, check)
  reference(value, path, check)
  ifPresent(fileMode)(mode, `${path}.mode`, check)
}

const downwardApi: PodRule = (value, path, check) => {
  const { defaultMode, items } = fieldsOf(value)
  ifPresent(fileMode)(defaultMode, `${path}.defaultMode`, check)
  eachIn(itemsOf(items), check, (item, _, own) => downwardFile(item, path, own))
}

const sourceNames = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
] as const

const projected: PodRule = (value, path, check) => {
  const { defaultMode, sources } = fieldsOf(value)
  ifPresent(fileMode)(defaultMode, `${path}.defaultMode`, check)
  const taken = once('paths of a projected volume', () => new Set<string>())
  eachIn(itemsOf(sources), check, (source, at, inner) => {
    const own = `${path}.sources[${at}]`
    const names = sourceNames.filter((name) => source[name] !== undefined)
    for (const [index, name] of names.entries()) {
      if (index > 0)
        inner.faults.push(forbiddenField(own, 'may not specify more than 1 volume type per source'))
      else projectedSource(name, fieldsOf(source[name]), { own, path, taken, check: inner })
    }
  })
}

type ProjectedContext = {
  readonly own: string
  readonly path: string
  readonly taken: Set<string>
  readonly check: PodCheck
}

function projectedSource(
  name: (typeof sourceNames)[number],
  source: Fields,
  at: ProjectedContext,
): void {
  const { own, check } = at
  switch (name) {
    case 'secret':
    case 'configMap': {
      if (isEmpty(source['name'])) check.faults.push(required(`${own}.${name}.name`))
      keyFiles(source['items'], `${own}.${name}.items`, check)
      eachIn(itemsOf(source['items']), check, (item, _, inner) =>
        takePath(item['path'], textOf(source['name']), { ...at, check: inner }),
      )
      return
    }
    case 'downwardAPI':
      eachIn(itemsOf(source['items']), check, (item, _, inner) => {
        downwardFile(item, `${own}.downwardAPI`, inner)
        const file = item['path']
        takePath(file, textOf(file), { ...at, check: inner })
      })
      return
    case 'serviceAccountToken':
      tokenSource(source, at)
      return
    case 'clusterTrustBundle':
      trustBundle(source, `${own}.clusterTrustBundle`, check)
      takePath(source['path'], '', at)
      return
  }
}

function tokenSource(source: Fields, { own, path, check, ...rest }: ProjectedContext): void {
  const seconds = numberOf(source['expirationSeconds'])
  const at = `${own}.serviceAccountToken`
  if (textOf(check.spec['serviceAccountName']) === '' && check.podName !== undefined) {
    check.faults.push(
      forbiddenField(at, 'must not be specified when serviceAccountName is not set'),
    )
  }
  if (seconds < TOKEN_SECONDS_MIN) {
    const why = 'may not specify a duration less than 10 minutes'
    check.faults.push(invalidValue(`${at}.expirationSeconds`, seconds, why))
  }
  if (seconds > TOKEN_SECONDS_MAX) {
    const why = 'may not specify a duration larger than 2^32 seconds'
    check.faults.push(invalidValue(`${at}.expirationSeconds`, seconds, why))
  }
  // As in kube-apiserver, the path in the error is that of the volume instead of the source.
  needed(visiblePath)(source['path'], `${path}.path`, check)
  takePath(source['path'], '', { own, path, check, ...rest })
}

/** Refuses a file path that an earlier source already uses. */
function takePath(
  file: Json | undefined,
  shown: string,
  { path, taken, check }: ProjectedContext,
): void {
  const name = textOf(file)
  if (name === '') return
  if (!addKey(taken, name))
    check.faults.push(invalidValue(path, shown, 'conflicting duplicate paths'))
}

const fixedByTemplate = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'finalizers',
  'ownerReferences',
] as const

/** Rule for an ephemeral volume. Its claim is created and deleted together with the Pod. */
const ephemeral: PodRule = (value, path, check) => {
  const { volumeClaimTemplate } = fieldsOf(value)
  const at = `${path}.volumeClaimTemplate`
  if (volumeClaimTemplate === undefined) {
    check.faults.push(required(at))
    return
  }
  const { metadata, spec } = fieldsOf(volumeClaimTemplate)
  const meta = fieldsOf(metadata)
  for (const name of fixedByTemplate) {
    if (!isEmpty(meta[name]))
      check.faults.push(forbiddenField(`${at}.metadata.${name}`, 'cannot be set'))
  }
  labelMap(meta['labels'], `${at}.metadata.labels`, check)
  claimSpec(spec, `${at}.spec`, check)
}

/** Rule for an image volume. In a template, the reference can be absent. */
const imageVolume: PodRule = (value, path, check) => {
  if (check.podName !== undefined)
    needed()(fieldsOf(value)['reference'], `${path}.reference`, check)
  fields({ pullPolicy: unlessEmpty(oneOf('Always', 'IfNotPresent', 'Never')) })(value, path, check)
}

/** Volume sources whose rules depend on the Pod. */
const podSources: {
  readonly [source: string]: {
    readonly rule: PodRule
    readonly shownAs?: string
    readonly extraAs?: string
  }
} = {
  secret: {
    rule: fields({ secretName: needed(), defaultMode: ifPresent(fileMode), items: keyFiles }),
  },
  downwardAPI: { rule: downwardApi, extraAs: 'downwarAPI' },
  configMap: {
    rule: fields({ name: needed(), defaultMode: ifPresent(fileMode), items: keyFiles }),
  },
  projected: { rule: projected },
  ephemeral: { rule: ephemeral },
  image: { rule: imageVolume },
}

/** Volume sources in order of precedence. If several are set, only the first is accepted. */
const order =
  `emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker
  persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume
  photonPersistentDisk portworxVolume azureDisk storageos projected scaleIO csi ephemeral image`.split(
    /\s+/,
  )

type PodSource = {
  readonly name: string
  readonly rule: PodRule
  readonly shownAs: string
  readonly extraAs: string
}

const sources: readonly PodSource[] = order.flatMap((name) => {
  const source = podSources[name] ?? volumeSources[name]
  if (source === undefined) return []
  const { rule, shownAs = name, extraAs = name } = source
  return [{ name, rule, shownAs, extraAs }]
})

function volumeSource(volume: Fields, path: string, check: PodCheck): void {
  let count = 0
  for (const { name, rule, shownAs, extraAs } of sources) {
    if (volume[name] === undefined || volume[name] === null) continue
    if (count++ > 0)
      check.faults.push(
        forbiddenField(`${path}.${extraAs}`, 'may not specify more than 1 volume type'),
      )
    else rule(volume[name], `${path}.${shownAs}`, check)
  }
  if (count === 0) check.faults.push(required(path, 'must specify a volume type'))
  iscsiLength(volume, path, check)
}

function iscsiLength({ name, iscsi }: Fields, path: string, { faults }: PodCheck): void {
  const { initiatorName, targetPortal } = fieldsOf(iscsi)
  if (initiatorName === undefined) return
  if (`${textOf(name)}:${textOf(targetPortal)}`.length <= ISCSI_NAME_CHARACTERS_MAX) return
  const why =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  faults.push(invalidValue(`${path}.name`, textOf(name), why))
}

/** Validates all volumes. Returns the valid volumes, to which containers can refer. */
export function checkVolumes(
  spec: Fields,
  path: string,
  check: PodCheck,
): ReadonlyMap<string, Fields> {
  const found = once('valid volumes', () => new Map<string, Fields>())
  const list = itemsOf(spec['volumes'])
  eachIn(list, check, (volume, at, inner) => {
    const own = `${path}[${at}]`
    const before = inner.faults.length
    const name = textOf(volume['name'])
    volumeSource(volume, own, inner)
    inner.faults.push(...nameFaultsOf(name, `${own}.name`, found))
    if (inner.faults.length === before) found.set(name, volume)
  })
  claimsOfTheirOwn(list, path, check)
  return found
}

function nameFaultsOf(
  name: string,
  path: string,
  found: ReadonlyMap<string, Fields>,
): FieldFault[] {
  if (name === '') return [required(path)]
  const faults = checkDnsLabel(name).map((why) => invalidValue(path, name, why))
  return faults.length === 0 && found.has(name) ? [duplicate(path, name)] : faults
}

/** Refuses a volume that names the claim of an ephemeral volume of the same Pod. */
function claimsOfTheirOwn(list: readonly Fields[], path: string, check: PodCheck): void {
  const { podName } = check
  if (podName === undefined || podName === '') return
  const made = eachItem(
    'claims of ephemeral volumes',
    list,
    (): Set<string> => new Set(),
    (claims, { name, ephemeral: own }) => {
      if (own !== undefined) claims.add(`${podName}-${textOf(name)}`)
      return true
    },
  )
  if (made.size === 0) return
  eachIn(list, check, ({ persistentVolumeClaim }, at, { faults }) => {
    const claim = textOf(fieldsOf(persistentVolumeClaim)['claimName'])
    if (!made.has(claim)) return
    const why = 'must not reference a PVC that gets created for an ephemeral volume'
    faults.push(invalidValue(`${path}[${at}].persistentVolumeClaim.claimName`, claim, why))
  })
}
