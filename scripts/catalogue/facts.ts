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
  /** Whether this is a Go alias (`type A = B`), which is the same type. */
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
}

export type Facts = {
  /** Packages by group and version, such as `core/v1`. */
  readonly packages: Readonly<Record<string, PackageFacts>>
  readonly gates: readonly { readonly name: string; readonly history: readonly GateStage[] }[]
}

/** Maximum size of the output of the program. The facts about all types take less than 1 MB. */
const OUTPUT_BYTES_MAX = 16 << 20

const pin = join(import.meta.dirname, '..', '..', 'test', 'support', 'tools', 'kubernetes')
const staging = [
  'api',
  'apiextensions-apiserver',
  'apimachinery',
  'apiserver',
  'client-go',
  'component-base',
  'controller-manager',
  'kube-aggregator',
]

/** Returns the facts about a version such as `1.34.4`, or about the pinned version. */
export function readFacts(version?: string): Facts {
  const at = (prefix: string): string =>
    version === undefined ? '' : `@v${prefix}${version.replace(/^1/, '')}`
  const modules = [
    ...staging.map((name) => `k8s.io/${name}${at('0')}`),
    `k8s.io/kubernetes${at('1')}`,
  ]
  const folders = JSON.parse(
    `[${go('mod', 'download', '-json', ...modules).replaceAll('}\n{', '},{')}]`,
  )
  const flags = folders.map(
    ({ Path, Dir }: { Path: string; Dir: string }) => `-module=${Path}=${Dir}`,
  )
  return JSON.parse(go('run', './facts', ...flags))
}

const go = (...args: string[]): string =>
  execFileSync('go', args, {
    cwd: pin,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
