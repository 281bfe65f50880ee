/**
 * Reads facts about the API types of Kubernetes from the source of its published modules, with the
 * program test/support/tools/kubernetes/facts. By default, it reads the version that
 * test/support/tools/kubernetes pins.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export type FieldFacts = {
  /** Name in JSON. Absent if the type is embedded and its fields are inline. */
  readonly name?: string
  readonly go: string
  readonly omitempty?: true
  readonly omitzero?: true
  readonly required?: true
  readonly proto?: number
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly mapType?: string
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  /** The default value as JSON. */
  readonly default?: string
  readonly gates?: readonly string[]
}

export type TypeFacts = {
  readonly name: string
  readonly isKind?: true
  readonly isResource?: true
  readonly nonNamespaced?: true
  readonly mapType?: string
  readonly union?: {
    readonly discriminator: string
    readonly fields: Readonly<Record<string, string>>
  }
  readonly fields: readonly FieldFacts[]
}

export type AliasFacts = {
  readonly name: string
  readonly go: string
  readonly values?: readonly string[]
  /** Whether this is a Go alias (`type A = B`), which is another name for the same type. */
  readonly isSame?: true
  readonly isEnum?: true
}

export type PackageFacts = {
  readonly group: string
  readonly aliases: readonly AliasFacts[] | null
  readonly types: readonly TypeFacts[]
}

export type GateStage = {
  readonly since: string
  readonly stage: string
  readonly default: boolean
  readonly locked?: true
  /** Version that all servers of a cluster must have before a gate enters this stage. */
  readonly minCompatibility?: string
}

export type GateFacts = { readonly name: string; readonly history: readonly GateStage[] }

export type Facts = {
  /** Packages by group and version, such as `core/v1`. */
  readonly packages: Readonly<Record<string, PackageFacts>>
  readonly gates: readonly GateFacts[]
}

/** Maximum size of the output of the program. The facts about all types take less than 1 MB. */
const OUTPUT_BYTES_MAX = 16 << 20

const pin = join(import.meta.dirname, '..', '..', 'test', 'support', 'tools', 'kubernetes')
/** The modules that declare feature gates. */
const gateModules = [
  'apiextensions-apiserver',
  'apiserver',
  'client-go',
  'component-base',
  'controller-manager',
]
const typeModules = ['api', 'apimachinery', 'kube-aggregator']

/** Returns the facts about a version such as `1.34.4`, or about the pinned version. */
export function readFacts(version?: string): Facts {
  const folders = moduleFolders([...gateModules, ...typeModules], version)
  return JSON.parse(go('run', './facts', ...moduleFlags(folders)))
}

/** Returns the folder of the source of k8s.io/kubernetes. */
export const kubernetesFolder = (version?: string): string =>
  download([`k8s.io/kubernetes${suffix('1', version)}`])[0]?.Dir ?? ''

/** Feature gates of a version, and the folder of the source of k8s.io/kubernetes. */
export type GatesOfVersion = { readonly gates: readonly GateFacts[]; readonly folder: string }

/** Returns the feature gates of a version such as `1.34.4`, or of the pinned version. */
export function readGateFacts(version?: string): GatesOfVersion {
  const folders = moduleFolders(gateModules, version)
  const { gates }: Facts = JSON.parse(go('run', './facts', '-gates', ...moduleFlags(folders)))
  return { gates, folder: folders.find(({ Path }) => Path === 'k8s.io/kubernetes')?.Dir ?? '' }
}

type ModuleFolder = { readonly Path: string; readonly Dir: string }

/** Downloads staging modules and k8s.io/kubernetes, and returns their folders. */
const moduleFolders = (staging: readonly string[], version?: string): readonly ModuleFolder[] =>
  download([
    ...staging.map((name) => `k8s.io/${name}${suffix('0', version)}`),
    `k8s.io/kubernetes${suffix('1', version)}`,
  ])

/** Downloads a staging module, and returns its folder. */
export const folderOf = (name: string, version?: string): string =>
  download([`k8s.io/${name}${suffix('0', version)}`])[0]?.Dir ?? ''

/** Downloads k8s.io/kubernetes, and returns its folder. */
export const sourceOf = (version?: string): string =>
  download([`k8s.io/kubernetes${suffix('1', version)}`])[0]?.Dir ?? ''

/** Returns the part of a module's name that selects its version, such as `@v0.34.4`. */
const suffix = (major: string, version: string | undefined): string =>
  version === undefined ? '' : `@v${major}${version.replace(/^1/, '')}`

const download = (modules: readonly string[]): readonly ModuleFolder[] =>
  JSON.parse(`[${go('mod', 'download', '-json', ...modules).replaceAll('}\n{', '},{')}]`)

const moduleFlags = (folders: readonly ModuleFolder[]): readonly string[] =>
  folders.map(({ Path, Dir }) => `-module=${Path}=${Dir}`)

const go = (...args: string[]): string =>
  execFileSync('go', args, {
    cwd: pin,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
